package sdp

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Limits of Parse. Real descriptions have about 20 lines.
const (
	MaxSize    = 64 << 10 // in bytes
	maxLines   = 1000
	maxStreams = 32
	maxCrypto  = 32
)

// Parse parses a peer's description. It accepts bare LF, blanks at the end of a line, and blank lines. It ignores lines and attributes that
// it does not understand (RFC 8866, sections 5 and 5.13). It returns an error that wraps ErrMalformed for a wrong version, malformed m= or
// c= lines, lines without a type and a value, and texts that exceed its limits.
func Parse(data []byte) (*Description, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("sdp: at most %d bytes are allowed, not %d: %w", MaxSize, len(data), ErrMalformed)
	}
	text := string(data)
	p := parser{d: &Description{sealed: seal(&text), active: -1}}
	lines := 0
	for line := range strings.Lines(text) {
		lines++
		if lines > maxLines {
			return nil, malformed(lines, "at most %d lines are allowed", maxLines)
		}
		if err := p.line(lines, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")); err != nil {
			return nil, err
		}
	}
	if lines == 0 {
		return nil, malformed(1, "must be v=0: the description is empty")
	}
	return p.d, nil
}

// parser contains the description that is being parsed, and the session-level values that its streams inherit.
type parser struct {
	d         *Description
	address   netip.Addr
	connected bool
	direction Direction
}

func (p *parser) line(n int, line string) error {
	line = strings.TrimRight(line, blank)
	if n == 1 {
		if line != "v=0" {
			return malformed(n, "must be v=0")
		}
		return nil
	}
	if line == "" {
		return nil
	}
	if len(line) < 2 || line[1] != '=' {
		return malformed(n, "must be a type=value line")
	}
	switch value := line[2:]; line[0] {
	case 'm':
		return p.media(n, value)
	case 'c':
		return p.connection(n, value)
	case 'a':
		p.attribute(value)
		return nil
	default:
		return nil
	}
}

// media parses "<kind> <port>[/<count>] <proto> <format> ...".
func (p *parser) media(n int, value string) error {
	if len(p.d.streams) == maxStreams {
		return malformed(n, "at most %d m= lines are allowed", maxStreams)
	}
	kind, rest := word(value)
	portText, rest := word(rest)
	proto, list := word(rest)
	portText, _, _ = strings.Cut(portText, "/")
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil || kind == "" || proto == "" || list == "" || !isPrintable(value) {
		return malformed(n, "m= must have a kind, a port from 0 to 65535, a protocol and formats, in printable ASCII")
	}
	s := stream{
		kind: kind, port: uint16(port), proto: proto, list: list,
		address: p.address, connected: p.connected, direction: p.direction,
	}
	if s.isAudio() && strings.HasPrefix(proto, "RTP/") {
		s.formats = parseFormats(list)
	}
	p.d.streams = append(p.d.streams, s)
	return nil
}

// parseFormats parses the payload types of an m= line. It skips duplicates, invalid types, and types that collide with RTCP (RFC 5761,
// section 4).
func parseFormats(list string) []format {
	var seen [128]bool // payload types have 7 bits
	formats := make([]format, 0, 8)
	for text := range strings.FieldsSeq(list) {
		pt, err := strconv.ParseUint(text, 10, 7)
		if err != nil || seen[pt] || pt >= 72 && pt <= 76 {
			continue
		}
		seen[pt] = true
		formats = append(formats, staticFormat(uint8(pt)))
	}
	return formats
}

// connection parses "IN IP4|IP6 <address>". A host name, a multicast address and the broadcast address are not an error, because their
// stream may be refused anyway; they are stored as an invalid address.
func (p *parser) connection(n int, value string) error {
	address, err := parseConnection(value)
	if err {
		return malformed(n, "c= must have IN, then IP4 or IP6, then an address")
	}
	if len(p.d.streams) == 0 {
		p.address, p.connected = address, true
		return nil
	}
	s := p.last()
	s.address, s.connected = address, true
	return nil
}

// broadcast is the address of all hosts on the local network (RFC 919, section 7).
var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

func parseConnection(value string) (address netip.Addr, bad bool) {
	network, rest := word(value)
	family, text := word(rest)
	if network != "IN" || family != "IP4" && family != "IP6" || text == "" {
		return netip.Addr{}, true
	}
	address, err := netip.ParseAddr(text)
	if err != nil || address.Zone() != "" {
		return netip.Addr{}, false
	}
	if address = address.Unmap(); address.IsMulticast() || address == broadcast {
		return netip.Addr{}, false
	}
	return address, false
}

func (p *parser) attribute(value string) {
	name, value, _ := strings.Cut(value, ":")
	name, value = strings.Trim(name, blank), strings.Trim(value, blank)
	if d, ok := parseDirection(name); ok {
		if len(p.d.streams) == 0 {
			p.direction = d
		} else {
			p.last().direction = d
		}
		return
	}
	if len(p.d.streams) == 0 {
		return
	}
	s := p.last()
	switch name {
	case "rtpmap":
		s.mapFormat(value)
	case "ptime":
		s.ptime = parsePtime(value)
	case "maxptime":
		s.maxPtime = parsePtime(value)
	case "rtcp":
		s.controlPort(value)
	case "crypto":
		s.addCrypto(value)
	}
}

func (p *parser) last() *stream { return &p.d.streams[len(p.d.streams)-1] }

// mapFormat parses "<pt> <name>/<clock>[/<channels>]". It ignores a malformed value, and a payload type that is not on the m= line.
func (s *stream) mapFormat(value string) {
	ptText, encoding := word(value)
	name, rest, _ := strings.Cut(encoding, "/")
	clockText, channelText, hasChannels := strings.Cut(rest, "/")
	clock, err := strconv.ParseUint(clockText, 10, 32)
	if err != nil || clock == 0 || name == "" {
		return
	}
	channels := uint64(1)
	if hasChannels {
		if channels, err = strconv.ParseUint(channelText, 10, 8); err != nil || channels == 0 {
			return
		}
	}
	if f := s.format(ptText); f != nil {
		f.name, f.clock, f.channels = name, uint32(clock), uint8(channels)
	}
}

// format returns the format with the given payload type, or nil if the stream has none.
func (s *stream) format(ptText string) *format {
	pt, err := strconv.ParseUint(ptText, 10, 7)
	if err != nil {
		return nil
	}
	for i := range s.formats {
		if s.formats[i].pt == uint8(pt) {
			return &s.formats[i]
		}
	}
	return nil
}

// parsePtime parses a duration in milliseconds, possibly with a fraction (RFC 8866). It returns 0 for values outside 2.5 to 200 ms.
func parsePtime(value string) time.Duration {
	const longest = 200
	ms, err := strconv.ParseFloat(strings.TrimSpace(value), 32)
	if err != nil || !(ms >= 2.5 && ms <= longest) {
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// controlPort parses "<port> [IN IP4|IP6 <address>]" (RFC 3605). It ignores a malformed value.
func (s *stream) controlPort(value string) {
	portText, rest := word(value)
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return
	}
	var address netip.Addr
	if rest != "" {
		var bad bool
		if address, bad = parseConnection(rest); bad {
			return
		}
	}
	s.rtcp = netip.AddrPortFrom(address, uint16(port))
}

// addCrypto adds an a=crypto line if it is usable, up to maxCrypto lines.
func (s *stream) addCrypto(value string) {
	if c, ok := parseCrypto(value); ok && len(s.crypto) < maxCrypto {
		s.crypto = append(s.crypto, c)
	}
}

// blank contains the white space characters within a line.
const blank = " \t"

// word returns the first word of a text and the rest, without surrounding blanks.
func word(text string) (first, rest string) {
	text = strings.Trim(text, blank)
	if i := strings.IndexAny(text, blank); i >= 0 {
		return text[:i], strings.TrimLeft(text[i:], blank)
	}
	return text, ""
}

// isPrintable reports whether a text is ASCII without control characters other than the tab. It is required of m= lines, because an answer
// repeats them.
func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
