package audiofile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hajimehoshi/go-mp3"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech/pcm"
)

// maxJunk is the maximum number of junk bytes after the first frame of a file, in total. Junk is neither a frame nor a tag.
const maxJunk = 64 << 10

// maxTags is the maximum size of the ID3 tags before the first frame, in bytes. Tags may contain pictures.
const maxTags = 16 << 20

// frameHeader is the parsed header of an MPEG audio frame (ISO/IEC 11172-3, section 2.4.1.3; 13818-3 for the lower rates).
type frameHeader struct {
	low    bool // MPEG-2 or MPEG-2.5: at most half the rate, one granule
	old    bool // MPEG-2.5, which is not standardized: a quarter of the rate
	crc    bool
	mono   bool
	rate   int
	size   int // of the frame in bytes, including the header
	padded bool
}

var (
	highBitrates = [15]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}
	lowBitrates  = [15]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}
	highRates    = [3]int{44100, 48000, 32000}
)

// parseFrame parses the header at the beginning of b. It returns false unless b begins with a valid header of Layer III with an explicit
// bit rate.
func parseFrame(b []byte) (frameHeader, bool) {
	if len(b) < 4 || b[0] != 0xFF || b[1]&0xE6 != 0xE2 {
		return frameHeader{}, false
	}
	version, bitrate, rate := b[1]>>3&3, b[2]>>4, b[2]>>2&3
	if version == 1 || bitrate == 0 || bitrate == 15 || rate == 3 || b[3]&3 == 2 {
		return frameHeader{}, false
	}
	h := frameHeader{
		low: version != 3, old: version == 0, crc: b[1]&1 == 0, mono: b[3]>>6 == 3, rate: highRates[rate], padded: b[2]&2 != 0,
	}
	switch {
	case h.old:
		h.rate /= 4
	case h.low:
		h.rate /= 2
	}
	if h.low {
		h.size = 72 * 1000 * lowBitrates[bitrate] / h.rate
	} else {
		h.size = 144 * 1000 * highBitrates[bitrate] / h.rate
	}
	if h.padded {
		h.size++
	}
	return h, true
}

// like reports whether two frames may belong to one stream.
func (h frameHeader) like(other frameHeader) bool { return h.low == other.low && h.rate == other.rate }

// firstFrame returns the offset of the first frame. A frame counts only if a frame of the same stream, an ID3v1 tag, or the end of b
// follows it.
func firstFrame(b []byte) (int, bool) {
	for at := 0; ; at++ {
		found := bytes.IndexByte(b[min(at, len(b)):], 0xFF)
		if found < 0 {
			return 0, false
		}
		at += found
		h, ok := parseFrame(b[at:])
		if !ok {
			continue
		}
		if end := at + h.size; end == len(b) {
			return at, true
		} else if end < len(b) {
			if next, ok := parseFrame(b[end:]); ok && next.like(h) || bytes.HasPrefix(b[end:], []byte("TAG")) {
				return at, true
			}
		}
	}
}

// frames is a reader of the complete audio frames of an MP3. It skips junk, and stops at a tag or a truncated frame.
type frames struct {
	src   *bufio.Reader
	first frameHeader
	junk  int
	frame []byte // the current frame
	rest  []byte // the unread part of frame
	held  []byte // the last 255 bytes of main data, for repack
}

// openMP3 opens an MP3 file. It refuses MPEG-2.5 and files without a frame in the first peekSize bytes after the tags.
func openMP3(src *bufio.Reader) (source, error) {
	if err := skipTags(src); err != nil {
		return source{}, err
	}
	start, _ := src.Peek(peekSize) // an error means that the file is shorter
	at, ok := firstFrame(start)
	if !ok {
		return source{}, callwright.Errorf(callwright.CodeUnsupportedMedia,
			"the MP3 recording contains no audio in the %d KiB after its ID3 tags: upload the original, or convert it to WAV", peekSize>>10)
	}
	h, _ := parseFrame(start[at:])
	if h.old {
		return source{}, callwright.Errorf(callwright.CodeUnsupportedMedia,
			"MP3 with %d samples a second (MPEG-2.5) is not supported: convert it to WAV, or to MP3 with 16000 samples a second or more", h.rate)
	}
	if _, err := src.Discard(at); err != nil {
		return source{}, err
	}
	d, err := mp3.NewDecoder(&frames{src: src, first: h})
	if err != nil {
		return source{}, err
	}
	raw, stereo := make([]byte, 8<<10), pcm.Audio{Rate: h.rate, Channels: 2}
	next := func() ([]int16, error) {
		n, err := io.ReadFull(d, raw)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF
		}
		stereo.Samples = pcm.AppendSamples(stereo.Samples[:0], raw[:n])
		return stereo.Mono(), err
	}
	return source{h.rate, next}, nil
}

// skipTags skips the ID3 tags at the beginning (ID3v2.4, section 3.1). It returns an error if they exceed maxTags bytes in total or if the
// file ends in a tag.
func skipTags(src *bufio.Reader) error {
	for left := maxTags; ; {
		head, err := src.Peek(10)
		if err != nil || !bytes.HasPrefix(head, []byte("ID3")) {
			return nil //nolint:nilerr // too short for a tag
		}
		size := 10 + int(head[6]&0x7F)<<21 + int(head[7]&0x7F)<<14 + int(head[8]&0x7F)<<7 + int(head[9]&0x7F)
		if head[5]&0x10 != 0 {
			size += 10 // a footer of 10 bytes follows the tag
		}
		if left -= size; left < 0 {
			return callwright.Errorf(callwright.CodeUnsupportedMedia, "the ID3 tags of the MP3 recording have more than %d MiB: remove their pictures", maxTags>>20)
		}
		if _, err := src.Discard(size); err != nil {
			return callwright.Errorf(callwright.CodeUnsupportedMedia, "the MP3 recording ends in its ID3 tag, before the first frame of audio")
		}
	}
}

// Read reads bytes of the current frame, or of the next frame if the current one is read completely.
func (f *frames) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		if err := f.advance(); err != nil {
			return 0, err
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// advance reads the next frame. It returns io.EOF at a tag, at a truncated frame and at the end of the file, and another error after more
// than maxJunk bytes of junk.
func (f *frames) advance() error {
	for {
		head, err := f.src.Peek(4)
		if err != nil {
			return io.EOF
		}
		h, ok := parseFrame(head)
		if ok && h.like(f.first) && !h.old {
			f.frame = append(f.frame[:0], make([]byte, h.size)...)
			if _, err := io.ReadFull(f.src, f.frame); err != nil {
				return io.EOF
			}
			f.rest = f.repack(h)
			return nil
		}
		for _, tag := range []string{"TAG", "APET", "LYRI", "ID3"} {
			if bytes.HasPrefix(head, []byte(tag)) {
				return io.EOF
			}
		}
		if f.junk++; f.junk > maxJunk {
			return fmt.Errorf("more than %d bytes are neither a frame nor a tag", maxJunk)
		}
		if _, err := f.src.Discard(1); err != nil {
			return io.EOF
		}
	}
}

// repack works around a fault of the decoder. The decoder assumes that padded frames of MPEG-2 are one byte too short if their size without
// padding is a whole number. Of the supported MPEG-2 rates, only 22050 samples per second needs padding. repack rewrites each frame of this
// rate: the new frame contains all main data of the old one, even the part that earlier frames hold, and its bit rate is the lowest whose
// frames are large enough. repack returns a frame unchanged if it has another rate, is too short, or if its main data is missing or does
// not fit.
func (f *frames) repack(h frameHeader) []byte {
	if h.rate != 22050 {
		return f.frame
	}
	side, channels := 17, 2
	if h.mono {
		side, channels = 9, 1
	}
	begin := 4
	if h.crc {
		begin += 2
	}
	if len(f.frame) < begin+side {
		return f.frame
	}
	info := f.frame[begin : begin+side]
	back, length := int(info[0]), 0
	for ch := range channels {
		// part2_3_length is the first field of the 63 bits of each channel. The channels follow 8 bits and one private bit per channel.
		at := 8 + channels + 63*ch
		length += int(binary.BigEndian.Uint32(append(bytes.Clone(info[at/8:]), 0, 0, 0)) >> (20 - at%8) & 0xFFF)
	}
	length = (length + 7) / 8
	data := append(f.held, f.frame[begin+side:]...) //nolint:gocritic // held is replaced below
	start := len(f.held) - back
	f.held = bytes.Clone(data[max(len(data)-255, 0):])
	if start < 0 || start+length > len(data) {
		return f.frame // earlier main data is missing, or the frame is damaged: the decoder reports it
	}
	for index := byte(1); index < 15; index++ {
		size := 144 * 1000 * lowBitrates[index] / h.rate / 2
		if room := size - 4 - side; room < length {
			continue
		}
		out := make([]byte, 0, size)
		out = append(out, 0xFF, f.frame[1]|1, index<<4|f.frame[2]&0x0D, f.frame[3])
		out = append(append(out, 0), info[1:]...)
		out = append(out, data[start:start+length]...)
		return out[:size]
	}
	return f.frame
}
