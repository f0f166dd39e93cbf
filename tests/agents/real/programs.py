"""The three real programs, each in a home of its own whose settings lead to a scripted model.

What stands here is what a test needs to start them; what moot itself knows of them is in its own adapters.
Nothing of the surrounding environment reaches them: no key, no setting, no proxy.
"""

import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[3]
CACHE = TOP / ".cache" / "agents"
VERSIONS = {
    "@anthropic-ai/claude-code": "2.1.197",
    "@openai/codex": "0.171.0",
    "@google/gemini-cli": "0.61.0",
}
PATIENCE_S = 120.0


def system_env(home: Path) -> dict[str, str]:
    """Give the whole environment of a program: its home, and a path that finds moot, git and node."""
    path = [os.path.dirname(sys.executable), "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"]
    path += [part for part in os.environ.get("PATH", "").split(":") if part and part not in path]
    return {"PATH": ":".join(path), "HOME": str(home), "LANG": "C.UTF-8", "TERM": "xterm-256color"}


@dataclass(frozen=True, slots=True)
class Done:
    """How a program's turn went."""

    code: int
    out: str
    err: str

    def lines(self) -> list[dict[str, Any]]:
        """Give the objects of an output that has one JSON object a line."""
        return [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]


class Program:
    """One program, for one agent, in one repository; `url` is the base of that agent's scripted model."""

    name: str

    def __init__(self, home: Path, repository: Path, url: str) -> None:
        self.home = home
        self.repository = repository
        self.url = url
        home.mkdir(parents=True, exist_ok=True)
        self.settle()

    def settle(self) -> None:
        """Write the program's own settings into its home."""
        raise NotImplementedError

    def binary(self) -> list[str]:
        raise NotImplementedError

    def env(self) -> dict[str, str]:
        return system_env(self.home)

    def headless(self, prompt: str, resume: str = "") -> list[str]:
        """Give the argument vector of one headless turn, as JSON, tools allowed."""
        raise NotImplementedError

    def interactive(self) -> list[str]:
        """Give the argument vector of the program's own screen, which asks before it runs a command."""
        raise NotImplementedError

    def turn(self, prompt: str, *extra: str, resume: str = "", text: str = "", **env: str) -> Done:
        """Run one headless turn to its end; `extra` arguments go before the prompt."""
        argv = self.headless(prompt, resume)
        place = len(argv) - 1 if argv[-1] == prompt else len(argv)
        done = subprocess.run(
            [*argv[:place], *extra, *argv[place:]],
            cwd=self.repository,
            env={**self.env(), **env},
            input=text,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
        return Done(done.returncode, done.stdout, done.stderr)


class Claude(Program):
    """Claude Code."""

    name = "claude"

    def settle(self) -> None:
        """Answer what a first start asks: theme, the key, the folder's trust."""
        settled = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [self.env()["ANTHROPIC_API_KEY"][-20:]], "rejected": []},
            "projects": {str(self.repository): {"hasTrustDialogAccepted": True}},
        }
        (self.home / ".claude.json").write_text(json.dumps(settled))

    def binary(self) -> list[str]:
        machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
        system = sys.platform.replace("win32", "windows")
        native = CACHE / "node_modules" / "@anthropic-ai" / f"claude-code-{system}-{machine}" / "claude"
        return [str(native)]

    def env(self) -> dict[str, str]:
        return {
            **super().env(),
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": "sk-ant-scripted-000000000000",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    def headless(self, prompt: str, resume: str = "") -> list[str]:
        again = ["--resume", resume] if resume else []
        allowed = ["--allowedTools=Bash(moot:*),mcp__moot"]
        return [*self.binary(), "-p", "--output-format", "json", *again, *allowed, prompt]

    def interactive(self) -> list[str]:
        return self.binary()


class Codex(Program):
    """Codex."""

    name = "codex"

    def settle(self) -> None:
        folder = self.home / ".codex"
        folder.mkdir(exist_ok=True)
        (folder / "config.toml").write_text(
            'model = "gpt-5-codex"\n'
            'model_provider = "scripted"\n'
            "check_for_update_on_startup = false\n"
            "[model_providers.scripted]\n"
            'name = "scripted"\n'
            f'base_url = "{self.url}/v1"\n'
            'env_key = "SCRIPTED_KEY"\n'
            'wire_api = "responses"\n'
            f'[projects."{self.repository}"]\n'
            'trust_level = "trusted"\n'
        )

    def binary(self) -> list[str]:
        return [str(CACHE / "node_modules" / ".bin" / "codex")]

    def env(self) -> dict[str, str]:
        return {**super().env(), "SCRIPTED_KEY": "scripted"}

    def headless(self, prompt: str, resume: str = "") -> list[str]:
        free = "--dangerously-bypass-approvals-and-sandbox"
        again = ["resume", resume] if resume else []
        return [*self.binary(), "exec", free, "--json", *again, prompt]

    def interactive(self) -> list[str]:
        return [*self.binary(), "-a", "on-request", "-s", "read-only"]


class Gemini(Program):
    """Gemini CLI."""

    name = "gemini"

    def settle(self) -> None:
        folder = self.home / ".gemini"
        folder.mkdir(exist_ok=True)
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
        }
        (folder / "settings.json").write_text(json.dumps(settings))
        (folder / "trustedFolders.json").write_text(json.dumps({str(self.repository): "TRUST_FOLDER"}))

    def binary(self) -> list[str]:
        return [str(CACHE / "node_modules" / ".bin" / "gemini")]

    def env(self) -> dict[str, str]:
        return {
            **super().env(),
            "GOOGLE_GEMINI_BASE_URL": self.url,
            "GEMINI_API_KEY": "scripted",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }

    def headless(self, prompt: str, resume: str = "") -> list[str]:
        again = ["-r", resume] if resume else []
        model = ["-m", "gemini-2.5-flash"]
        return [*self.binary(), *model, "-o", "json", "--approval-mode", "yolo", *again, "-p", prompt]

    def interactive(self) -> list[str]:
        return [*self.binary(), "-m", "gemini-2.5-flash"]


PROGRAMS: dict[str, type[Program]] = {"claude": Claude, "codex": Codex, "gemini": Gemini}
