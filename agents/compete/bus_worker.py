"""Errands for agents of the roster: the bus brings the prompt, they write the answer to a file and acknowledge."""

import time
from collections.abc import Mapping

from ...bus.batch import Draft
from ...bus.watcher import Watcher
from ...workspace.folder import Workspace
from ..referee import Referee
from ..runners import Answer
from .frozen import read_ends
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
        deadline: float,
        max_output_bytes: int,
    ) -> None:
        """Name who sends, and who does whose errands; others (the verifier's) go by their own name.

        None is waited for beyond the `deadline` (on the monotonic clock).
        """
        self._workspace, self._by, self._players = workspace, by, players
        self._timeout_s, self._deadline, self._max_output_bytes = timeout_s, deadline, max_output_bytes
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
            done = self._wait(referee, block_id, agent, min(began + self._timeout_s, self._deadline))
        finally:
            referee.close()
        data, size_bytes = b"", 0
        error = f"time-out after {self._timeout_s:g} s: {agent} did not acknowledge {block_id}"
        if done:
            data, size_bytes = read_ends(errand.folder, file.name, self._max_output_bytes)
            error = ""
        lost_bytes = max(0, size_bytes - len(data))
        text, elapsed_s = data.decode("utf-8", "replace"), time.monotonic() - began
        return Answer(text, None, not done, error, elapsed_s, lost_bytes > 0, lost_bytes)

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
