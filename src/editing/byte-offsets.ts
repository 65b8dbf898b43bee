const STRIDE = 256

/** Offsets in UTF-8 of the characters of a text that has no lone surrogate: no pass over the text for each. */
export class ByteOffsets {
  private readonly text: string
  /** Offset of every 256th UTF-16 unit; null where each is one byte. */
  private readonly marks: Uint32Array | null

  constructor(text: string, byteLength: number) {
    this.text = text
    this.marks = byteLength === text.length ? null : marksOf(text)
  }

  /** @param index - of a UTF-16 unit that begins a character, or the text's length. */
  at(index: number): number {
    if (this.marks === null) return index
    const mark = Math.floor(index / STRIDE)
    let offset = this.marks[mark] ?? 0
    for (let i = mark * STRIDE; i < index; i++) offset += bytesOf(this.text.charCodeAt(i))
    return offset
  }
}

function marksOf(text: string): Uint32Array {
  const marks = new Uint32Array(Math.floor(text.length / STRIDE) + 1)
  let offset = 0
  for (let i = 0; i < text.length; i++) {
    if (i % STRIDE === 0) marks[i / STRIDE] = offset
    offset += bytesOf(text.charCodeAt(i))
  }
  if (text.length % STRIDE === 0) marks[text.length / STRIDE] = offset
  return marks
}

/** A surrogate pair's four bytes are counted with its first half. */
function bytesOf(unit: number): number {
  if (unit < 0x80) return 1
  if (unit < 0x800) return 2
  if (unit >= 0xd800 && unit < 0xdc00) return 4
  return unit >= 0xdc00 && unit < 0xe000 ? 0 : 3
}
