package sdp

import (
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// The limits of Parse. Real descriptions have some 20 lines.
const (
	MaxSize    = 64 << 10 // bytes
	maxLines   = 1000
	maxStreams = 32
	maxCrypto  = 32
)

// Parse parses a peer's description. It tolerates bare LF, unknown lines and attributes, and blank lines at the end. It
// returns an error that wraps ErrMalformed for a wrong version, malformed m= or c= lines, control characters, a description
// without m= lines, or more than MaxSize bytes.
func Parse(data []byte) (*Description, error) {
	if len(data) > MaxSize {
		return nil, malformed(0, "%d bytes", len(data))
	}
	text := string(data)
	p := parser{d: &Description{sealed: seal(&text), active: -1}}
	lines := 0
	for line := range strings.Lines(text) {
		lines++
		if lines > maxLines {
			return nil, malformed(lines, "too many lines")
		}
		if err := p.line(lines, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")); err != nil {
			return nil, err
		}
	}
	if len(p.d.streams) == 0 {
		return nil, malformed(lines, "no m= line")
	}
	return p.d, nil
}

// parser holds the session-level values that streams inherit.
type parser struct {
	d         *Description
	address   netip.Addr
	connected bool
	direction Direction
}

func (p *parser) line(n int, line string) error {
	if n == 1 {
		if line != "v=0" {
			return malformed(n, "not v=0")
		}
		return nil
	}
	if strings.TrimRight(line, " \t") == "" {
		return nil
	}
	if len(line) < 2 || line[1] != '=' || !isClean(line) {
		return malformed(n, "not a type=value line of printable text")
	}
	switch value := line[2:]; line[0] {
	case 'm':
		return p.media(n, value)
	case 'c':
		return p.connection(n, value)
	case 'a':
		return p.attribute(n, value)
	default:
		return nil
	}
}

// media parses "<kind> <port>[/<count>] <proto> <format> ...".
func (p *parser) media(n int, value string) error {
	if len(p.d.streams) == maxStreams {
		return malformed(n, "too many m= lines")
	}
	kind, rest, _ := strings.Cut(value, " ")
	portText, rest, _ := strings.Cut(rest, " ")
	proto, list, ok := strings.Cut(rest, " ")
	portText, _, _ = strings.Cut(portText, "/")
	port, err := strconv.ParseUint(portText, 10, 16)
	list = strings.TrimSpace(list)
	if !ok || err != nil || kind == "" || proto == "" || list == "" || !isASCII(value) {
		return malformed(n, "m= wants a kind, a port, a protocol and formats")
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

// parseFormats parses payload types. It skips duplicates, invalid ones, and those that collide with RTCP (RFC 5761,
// section 4).
func parseFormats(list string) []format {
	var seen [128]bool // payload types are 7 bits
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

// connection parses "IN IP4|IP6 <address>". A name, a multicast or the broadcast address is kept as unusable, because the
// stream may be refused anyway.
func (p *parser) connection(n int, value string) error {
	address, err := parseConnection(value)
	if err {
		return malformed(n, "c= wants IN, IP4 or IP6 and an address")
	}
	if len(p.d.streams) == 0 {
		p.address, p.connected = address, true
		return nil
	}
	s := p.last()
	s.address, s.connected = address, true
	return nil
}

// broadcast reaches every host of the local network (RFC 919, section 7).
var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

func parseConnection(value string) (address netip.Addr, bad bool) {
	network, rest, _ := strings.Cut(value, " ")
	family, text, _ := strings.Cut(rest, " ")
	text = strings.TrimSpace(text)
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

func (p *parser) attribute(n int, value string) error {
	name, value, _ := strings.Cut(value, ":")
	if d, ok := parseDirection(name); ok {
		if len(p.d.streams) == 0 {
			p.direction = d
		} else {
			p.last().direction = d
		}
		return nil
	}
	if len(p.d.streams) == 0 {
		return nil
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
		return s.controlPort(n, value)
	case "crypto":
		s.addCrypto(value)
	}
	return nil
}

func (p *parser) last() *stream { return &p.d.streams[len(p.d.streams)-1] }

// mapFormat parses "<pt> <name>/<clock>[/<channels>]". A malformed line, or one about a format that is not on the m= line,
// is skipped.
func (s *stream) mapFormat(value string) {
	ptText, encoding, _ := strings.Cut(value, " ")
	name, rest, _ := strings.Cut(strings.TrimSpace(encoding), "/")
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

// format returns the format with the payload type; nil without one.
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

// parsePtime parses milliseconds, with fractions as in RFC 8866. Implausible values are ignored.
func parsePtime(value string) time.Duration {
	const longest = 200
	ms, err := strconv.ParseFloat(strings.TrimSpace(value), 32)
	if err != nil || !(ms >= 2.5 && ms <= longest) {
		return 0
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// controlPort parses "<port> [IN IP4|IP6 <address>]" (RFC 3605).
func (s *stream) controlPort(n int, value string) error {
	portText, rest, hasAddress := strings.Cut(strings.TrimSpace(value), " ")
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return malformed(n, "a=rtcp wants a port")
	}
	var address netip.Addr
	if hasAddress {
		var bad bool
		if address, bad = parseConnection(rest); bad {
			return malformed(n, "a=rtcp with a broken address")
		}
	}
	s.rtcp = netip.AddrPortFrom(address, uint16(port))
	return nil
}

// addCrypto adds a usable line.
func (s *stream) addCrypto(value string) {
	if c, ok := parseCrypto(value); ok && len(s.crypto) < maxCrypto {
		s.crypto = append(s.crypto, c)
	}
}

// isClean refuses control characters, tab excepted.
func isClean(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' && s[i] != '\t' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
