// The smallest things that are what they say they are.

export const text = (words) => ({ content: [{ type: "text", text: words }] });

// One red pixel.
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";

// A WAV file: a header of 44 bytes that says how its eight samples of silence are to be played.
export const WAV = (() => {
  const samples = Buffer.alloc(8, 128);
  const header = Buffer.alloc(44);
  const rate = 8000;
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20); // uncompressed
  header.writeUInt16LE(1, 22); // one channel
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write("data", 36);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]).toString("base64");
})();

export const image = { type: "image", data: PNG, mimeType: "image/png" };

export const embedded = (uri, mimeType, words) => ({ type: "resource", resource: { uri, mimeType, text: words } });
