"""Errands for agents of the roster: the bus brings the prompt, they write the answer to a file and acknowledge."""

import time
from collections.abc import Mapping

from ...bus.batch import Draft
from ...bus.watcher import Watcher
from ...workspace.files import read_regular
from ...workspace.folder import Workspace
from ..referee import Referee
from ..runners import Answer, Kept
from .workers import Errand

LOOK_AFTER_S = 1.0  # whether the run was stopped: the ledger's changes do not tell


class BusWorker:
    """Sends each errand as a message, and waits for its acknowledgement. `players` maps candidates to agents."""

    def __init__(
        self,
        workspace: Workspace,
        by: str,
        players: Mapping[str, str],
        *,
        timeout_s: float,
        max_output_bytes: int,
    ) -> None:
        """Name who sends, and who does whose errands; others (the verifier's) go by their own name."""
        self._workspace, self._by, self._players = workspace, by, players
        self._timeout_s, self._max_output_bytes = timeout_s, max_output_bytes
        self._stopped = False

    def run(self, errand: Errand) -> Answer:
        """Send one errand and give what the agent wrote."""
        began = time.monotonic()
        worker = errand.values["agent_id"]
        agent = self._players.get(worker, worker)
        file = errand.folder / f"{errand.stage}.md"
        referee = Referee(self._workspace)  # each errand waits in a thread of its own
        try:
            body = (
                f"Errand: {errand.stage} of {errand.candidate} in {errand.values['competition_id']}.\n"
                f"Read {errand.values['prompt_file']}, write your answer to {file},"
                " then acknowledge this block with `moot ack`."
            )
            header = f"[{self._by}] to {agent}"
            block_id = referee.post(Draft(self._by, header, body, to=(agent,))).id
            done = self._wait(referee, block_id, agent, began + self._timeout_s)
        finally:
            referee.close()
        kept = Kept(self._max_output_bytes // 2, self._max_output_bytes // 2)
        kept.add((read_regular(file) or b"") if done else b"")
        error = (
            "" if done else f"time-out after {self._timeout_s:g} s: {agent} did not acknowledge {block_id}"
        )
        return Answer(kept.text(), None, not done, error, time.monotonic() - began, kept.is_cut)

    def _wait(self, referee: Referee, block_id: str, agent: str, deadline: float) -> bool:
        """Wait until an agent has acknowledged a block; tell whether it did in time."""
        with Watcher(self._workspace.ledger) as watcher:
            while not self._stopped:
                if any(
                    one.agent == agent and one.acknowledged_at for one in referee.index.receipts(block_id)
                ):
                    return True
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                watcher.wait(min(left, LOOK_AFTER_S))
                referee.rule()
        return False

    def stop(self) -> None:
        """Wait for nothing more."""
        self._stopped = True
