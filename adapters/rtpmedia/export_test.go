package rtpmedia

import "net/netip"

// Conn is conn, for networks of tests.
type Conn = conn

// NewOn is New on another network than the machine's.
func NewOn(cfg Config, listen func(netip.AddrPort) (Conn, error)) (*Media, error) {
	m, err := New(cfg)
	if err == nil {
		m.ports.listen = func(port uint16) (conn, error) { return listen(netip.AddrPortFrom(m.cfg.IP, port)) }
	}
	return m, err
}
