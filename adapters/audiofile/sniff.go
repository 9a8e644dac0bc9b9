package audiofile

import (
	"bufio"
	"bytes"
	"unicode/utf8"
)

// peekSize is the number of bytes that are searched for the first frame of an MP3: at the start of the file, or after its ID3 tags.
const peekSize = 64 << 10

// The formats that Decoder decodes.
const (
	kindWAV = "WAV"
	kindMP3 = "MP3"
	kindOgg = "Ogg"
)

// kinds lists files that people upload, by the bytes at an offset. The names of undecoded formats appear in errors.
var kinds = []struct {
	offset int
	magic  string
	name   string
}{
	{0, "OggS", kindOgg},
	{0, "ID3", kindMP3},
	{0, "PK\x03\x04", "a ZIP archive or an office document"},
	{0, "PK\x05\x06", "an empty ZIP archive"},
	{0, "%PDF", "a PDF"},
	{0, "fLaC", "a FLAC recording"},
	{4, "ftypM4A", "an M4A recording"},
	{4, "ftyp", "an MP4 or QuickTime file"},
	{0, "\x1a\x45\xdf\xa3", "a WebM or Matroska file"},
	{0, "#!AMR", "an AMR recording"},
	{0, "FORM", "an AIFF recording"},
	{0, ".snd", "an AU recording"},
	{0, "MThd", "a MIDI file, which has notes and no sound"},
	{0, "caff", "a CAF recording"},
	{0, "RF64", "an RF64 recording"},
	{0, "\x30\x26\xb2\x75", "a Windows Media file"},
	{0, "\x1f\x8b", "a gzip archive"},
	{0, "7z\xbc\xaf", "a 7-Zip archive"},
	{0, "Rar!", "a RAR archive"},
	{0, "\x89PNG", "a PNG picture"},
	{0, "\xff\xd8\xff", "a JPEG picture"},
	{0, "GIF8", "a GIF picture"},
	{0, "\x7fELF", "a program"},
	{0, "MZ", "a program"},
}

// sniff detects the format of a file by its first bytes. It returns kindWAV, kindMP3 or kindOgg, or a description of the file for an error.
func sniff(src *bufio.Reader) string {
	head, _ := src.Peek(12) // an error means that the file is shorter
	if len(head) == 0 {
		return "empty"
	}
	if bytes.HasPrefix(head, []byte("RIFF")) && len(head) == 12 {
		switch string(head[8:]) {
		case "WAVE":
			return kindWAV
		case "AVI ":
			return "an AVI video"
		default:
			return "a RIFF file other than WAV"
		}
	}
	for _, k := range kinds {
		if len(head) > k.offset && bytes.HasPrefix(head[k.offset:], []byte(k.magic)) {
			return k.name
		}
	}
	start, _ := src.Peek(peekSize) // an error means that the file is shorter
	if _, ok := firstFrame(start); ok {
		return kindMP3
	}
	if text := start[:min(len(start), 512)]; utf8.Valid(text[:max(len(text)-utf8.UTFMax, 0)]) && !bytes.ContainsRune(text, 0) {
		return "text"
	}
	return "of an unknown kind"
}
