package audiofile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/callwright/callwright"
)

// The limits of an Ogg stream.
const (
	maxPacket  = 256 << 10 // bytes of a packet that are stored; audio packets are smaller
	maxSkipped = 16 << 20  // size of a packet in bytes, including skipped bytes; comments may contain pictures
	maxStreams = 16        // pages that openStreams reads: the first pages of all streams, and one more
)

// Flags of a page (RFC 3533, section 6).
const (
	pageContinued = 1
	pageFirst     = 2
	pageLast      = 4
)

// oggPage is a parsed page of an Ogg stream.
type oggPage struct {
	flags   byte
	granule int64 // position at the end of the page; -1 if no packet ends in it
	serial  uint32
	lacing  []byte
	body    []byte
}

// readPage reads one page and verifies its checksum. It returns io.EOF at the end of the file.
func readPage(src io.Reader) (oggPage, error) {
	var head [27]byte
	if _, err := io.ReadFull(src, head[:1]); err != nil {
		return oggPage{}, err // io.EOF here is the end of the file
	}
	if _, err := io.ReadFull(src, head[1:]); err != nil {
		return oggPage{}, errors.New("a page is cut off")
	}
	if string(head[:4]) != "OggS" || head[4] != 0 {
		return oggPage{}, errors.New("not an Ogg page")
	}
	lacing := make([]byte, head[26])
	if _, err := io.ReadFull(src, lacing); err != nil {
		return oggPage{}, errors.New("a page is cut off")
	}
	size := 0
	for _, n := range lacing {
		size += int(n)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(src, body); err != nil {
		return oggPage{}, errors.New("a page is cut off")
	}
	declared := binary.LittleEndian.Uint32(head[22:])
	clear(head[22:26])
	if oggSum(oggSum(oggSum(0, head[:]), lacing), body) != declared {
		return oggPage{}, errors.New("the checksum of a page is wrong")
	}
	return oggPage{
		flags: head[5], granule: int64(binary.LittleEndian.Uint64(head[6:])), serial: binary.LittleEndian.Uint32(head[14:]),
		lacing: lacing, body: body,
	}, nil
}

// oggSums is the lookup table of the checksum (RFC 3533): polynomial 0x04C11DB7, highest bit first.
var oggSums = func() (table [256]uint32) {
	for i := range table {
		sum := uint32(i) << 24
		for range 8 {
			carry := sum >> 31
			sum = sum<<1 ^ carry*0x04C11DB7
		}
		table[i] = sum
	}
	return table
}()

func oggSum(sum uint32, b []byte) uint32 {
	for _, c := range b {
		sum = sum<<8 ^ oggSums[byte(sum>>24)^c]
	}
	return sum
}

// packets reads the packets of one stream of an Ogg file.
type packets struct {
	src    io.Reader
	serial uint32
	page   oggPage
	lacing int // index of the next value in page.lacing
	body   int // index of the next byte in page.body
}

// openStreams reads the first pages of all streams. It returns the packets of the first Vorbis or Opus stream, and separately its first
// packet. taken lists the supported formats, for errors.
func openStreams(src io.Reader, taken string) (*packets, []byte, error) {
	var chosen *packets
	var first []byte
	for range maxStreams {
		page, err := readPage(src)
		if err != nil {
			return nil, nil, err
		}
		if page.flags&pageFirst == 0 {
			if chosen == nil {
				return nil, nil, callwright.Errorf(callwright.CodeUnsupportedMedia, "the Ogg file contains neither Vorbis nor Opus: upload a recording as %s", taken)
			}
			if page.serial == chosen.serial {
				chosen.page = page
			}
			return chosen, first, nil
		}
		if err := refuseStream(page.body, taken); err != nil {
			return nil, nil, err
		}
		if chosen == nil && (isVorbis(page.body, 1) || bytes.HasPrefix(page.body, []byte("OpusHead"))) {
			chosen, first = &packets{src: src, serial: page.serial}, page.body
		}
	}
	return nil, nil, callwright.Errorf(callwright.CodeUnsupportedMedia, "the Ogg file contains %d or more streams: upload the audio stream alone", maxStreams)
}

// refuseStream returns CodeUnsupportedMedia if the first packet belongs to a video or to an unsupported audio format.
func refuseStream(first []byte, taken string) error {
	for magic, name := range map[string]string{
		"\x80theora": "a video", "\x01video": "a video", "BBCD": "a video", "Speex   ": "Ogg Speex", "\x7fFLAC": "Ogg FLAC",
	} {
		if bytes.HasPrefix(first, []byte(magic)) {
			return callwright.Errorf(callwright.CodeUnsupportedMedia, "the file is %s: upload a recording as %s", name, taken)
		}
	}
	return nil
}

// next returns the following packet of the stream, truncated to maxPacket bytes. If the packet ends on the last page, the result last is
// the position of that page, which is the number of samples in the whole stream. Otherwise, or if the page has no position, last is -1.
func (p *packets) next() (packet []byte, last int64, err error) {
	size := 0
	for {
		for p.lacing == len(p.page.lacing) {
			if err := p.turn(size > 0); err != nil {
				return nil, -1, err
			}
		}
		n := int(p.page.lacing[p.lacing])
		if keep := min(n, maxPacket-len(packet)); keep > 0 {
			packet = append(packet, p.page.body[p.body:p.body+keep]...)
		}
		p.lacing, p.body = p.lacing+1, p.body+n
		if size += n; size > maxSkipped {
			return nil, -1, fmt.Errorf("a packet has more than %d bytes", maxSkipped)
		}
		if n < 255 {
			break
		}
	}
	if p.page.flags&pageLast != 0 && p.page.granule >= 0 {
		return packet, p.page.granule, nil
	}
	return packet, -1, nil
}

// turn reads the next page of the stream. within reports whether a packet continues on that page. turn returns io.EOF after the last page,
// unless within is true.
func (p *packets) turn(within bool) error {
	if p.page.flags&pageLast != 0 {
		if within {
			return errors.New("the last packet is cut off")
		}
		return io.EOF
	}
	for {
		page, err := readPage(p.src)
		if errors.Is(err, io.EOF) && within {
			return errors.New("the last packet is cut off")
		}
		if err != nil {
			return err
		}
		if page.serial != p.serial {
			continue
		}
		if page.flags&pageContinued != 0 != within {
			return errors.New("a page is missing")
		}
		p.page, p.lacing, p.body = page, 0, 0
		return nil
	}
}
