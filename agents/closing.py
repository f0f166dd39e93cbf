"""The end of a session: the artifact is saved, and the final status says where and with which hash."""

import hashlib
from collections.abc import Callable

from ..bus.messages import Message
from ..parsers.attachment import attachment_of
from ..parsers.errors import MootError
from ..parsers.fields import write_fields
from ..parsers.seal import read_opened
from ..workspace.files import check_output_path, digest_of, make_folder, read_regular, write_whole
from ..workspace.folder import Workspace
from .protocols.events import Close
from .session import Session

OUTPUT_WAS = (
    "OUTPUT_WAS"  # the option of an opening that pins what stood at the output path: a sha256, or none
)
ABSENT = "none"


def close_session(
    workspace: Workspace, session: Session, state: object, close: Close, find: Callable[[str], Message | None]
) -> str:
    """Save the artifact of a session that ends, and give the body of the ruling that closes it.

    The artifact goes to `runs/SESSION/artifact.md`, and to the output path if the session is DONE. Where the
    peers have edited the file at the output path themselves, that is the artifact, and it is left as it is.
    """
    opening = session.opening
    data = _artifact(workspace, session, state, find)
    output, notes = "none", []
    if opening.output:
        try:
            output, data = _save_output(workspace, session, close, data)
        except MootError as error:
            notes.append(("NOTE", f"the output file was not written: {error}"))
    if opening.output and data is None and close.state == "done":
        notes.append(
            ("NOTE", "no turn holds an artifact under `Artifact:` or `Updated:`, so nothing was saved")
        )
    if data is not None:
        kept = workspace.runs / opening.session / "artifact.md"
        make_folder(kept.parent)
        write_whole(kept, data)
        notes.insert(0, ("ARTIFACT", f"runs/{opening.session}/artifact.md"))
        notes.insert(1, ("SHA256", hashlib.sha256(data).hexdigest()))
    if close.reason:
        notes.insert(0, ("REASON", close.reason))
    return write_fields([*session.rules.final_status(opening, state, output), *notes])


def _artifact(
    workspace: Workspace, session: Session, state: object, find: Callable[[str], Message | None]
) -> bytes | None:
    """Give what the session made: the artifacts in its blocks, one below the other."""
    found = (find(block_id) for block_id in session.rules.artifacts(state))
    texts = [session.rules.artifact_in(_whole(workspace, block.body)) for block in found if block is not None]
    return "\n".join(text for text in texts if text).encode() if any(texts) else None


def _whole(workspace: Workspace, body: str) -> str:
    """Give the text of a block, where its body is only the beginning of it or a seal that was opened."""
    opened = read_opened(body)
    attached = attachment_of(body)
    if attached is not None and attached.holds_artifact:
        return (read_regular(workspace.folder / attached.path) or b"").decode("utf-8", "replace")
    return opened.text if opened is not None else body


def _save_output(
    workspace: Workspace, session: Session, close: Close, data: bytes | None
) -> tuple[str, bytes | None]:
    """Write the output file; give what the status says of it, and the artifact that counts."""
    opening = session.opening
    path = check_output_path(workspace.root, workspace.folder, opening.output)
    stands = digest_of(path)
    if stands and stands != opening.option(OUTPUT_WAS):
        if data is not None and stands == hashlib.sha256(data).hexdigest():
            return opening.output, data  # written by an earlier attempt that was killed before its ruling
        return opening.output, read_regular(path)  # the peers edited the file themselves
    if data is None or close.state != "done":
        return "none", data
    make_folder(path.parent)
    write_whole(path, data)
    return opening.output, data
