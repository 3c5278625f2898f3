"""The process that recognises words: `python -m hermes_lance.parse.ocr_worker`, fed by `isolate.Worker`.

One question is `{"pages": [1, 4]}` with the bytes of a PDF, or `{"pages": null}` with those of an image. The answer is
a `page` (number; blocks as offset and box in pixels; the text) for each page or frame, or `failed`, then `done`.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

from hermes_lance.parse import limits
from hermes_lance.parse.media import Unreadable
from hermes_lance.parse.serving import Send, serve

_SCALE = 2.0
"""Pixels for each point of a PDF page: 144 to the inch."""
_MOST_PIXELS = 60_000_000
_LONGEST_SIDE = 4_000
_SHORTEST_SIDE = 12


def main() -> None:
    """Answer until the pipe closes."""
    serve(_answer)


def _answer(send: Send, question: dict[str, Any], data: bytes) -> None:
    pages = _pdf_pages(data, question["pages"]) if question["pages"] is not None else _frames(data)
    # The time for reading the first page also covers loading the models.
    limits.allow_cpu(2, limits.OCR_CPU_SECONDS_PER_PAGE)
    for number, image in pages:
        blocks, text = _recognised(image)
        limits.allow_cpu(1, limits.OCR_CPU_SECONDS_PER_PAGE)
        header = {"event": "page", "page": number, "blocks": blocks, "seconds": limits.OCR_WALL_SECONDS_PER_PAGE}
        send(header, text.encode("utf-8", "replace"))


def _pdf_pages(data: bytes, numbers: list[int]) -> Iterator[tuple[int, Any]]:
    """Page numbers from 1 with their pictures, as arrays of blue, green and red."""
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    try:
        if document.get_formtype():
            document.init_forms()
        for number in numbers:
            page = document[number - 1]
            try:
                longest = max(*page.get_size(), 1.0)
                bitmap = page.render(scale=min(_SCALE, _LONGEST_SIDE / longest))
                yield number, bitmap.to_numpy()[:, :, :3].copy()
            finally:
                page.close()
    finally:
        document.close()


def _frames(data: bytes) -> Iterator[tuple[int, Any]]:
    """Frames of an image, upright and on white; of an animation the first only."""
    import numpy as np
    from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = _MOST_PIXELS
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    try:
        with Image.open(io.BytesIO(data)) as image:
            frames = ImageSequence.Iterator(image) if image.format == "TIFF" else [image]
            for number, frame in enumerate(frames, 1):
                if number > limits.OCR_PAGES:
                    return
                upright = ImageOps.exif_transpose(frame).convert("RGBA")
                sheet = Image.new("RGB", upright.size, "white")
                sheet.paste(upright, mask=upright.getchannel("A"))
                yield number, np.asarray(sheet)[:, :, ::-1].copy()
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise Unreadable("too_large", f"it has more than {_MOST_PIXELS:,} pixels", failed=True) from error
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        # What Pillow raises on damaged files; a SyntaxError is what its PNG reader says of a bad chunk.
        raise Unreadable("parse_failed", f"it is damaged ({error})", failed=True) from error


def _recognised(image: Any) -> tuple[list[tuple[int, list[float]]], str]:
    """Blocks as (offset, box) and the text, in reading order; nothing where no word is seen."""
    from hermes_lance.parse.pdf_order import Run, ordered_blocks

    if min(image.shape[:2]) < _SHORTEST_SIDE:
        return [], ""
    made = _engine()(image)
    if made.txts is None or made.boxes is None:
        return [], ""
    runs = []
    for corners, text in zip(made.boxes.tolist(), made.txts, strict=True):
        sides, heights = [corner[0] for corner in corners], [corner[1] for corner in corners]
        # The order counts from below, as PDF pages do.
        runs.append(Run(min(sides), -max(heights), max(sides), -min(heights), text))
    blocks: list[tuple[int, list[float]]] = []
    parts: list[str] = []
    length = 0
    for block in ordered_blocks(runs):
        text = "\n".join(block.lines) + "\n\n"
        blocks.append((length, [block.left, -block.top, block.right, -block.bottom]))
        parts.append(text)
        length += len(text)
    return blocks, "".join(parts).rstrip("\n")


@cache
def _engine() -> Any:
    """The recogniser, with the weights of its wheel given by path: by itself it would fetch what it misses."""
    from pathlib import Path

    import rapidocr

    folder = Path(rapidocr.__file__).parent / "models"
    weights = {part: sorted(folder.glob(f"*_{part.lower()}_*.onnx")) for part in ("Det", "Cls", "Rec")}
    missing = [part for part, files in weights.items() if not files]
    if missing:
        raise Unreadable("parse_failed", f"rapidocr has no weights for {', '.join(missing)}", failed=True)
    return rapidocr.RapidOCR(
        params={
            "Global.log_level": "critical",
            **{f"{part}.model_path": str(files[0]) for part, files in weights.items()},
        }
    )


if __name__ == "__main__":
    main()
