package platform

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
)

// addresses sets the defaults of the addresses and validates them.
func (c *Config) addresses() error {
	if c.Addr != "" && !hostAndPort(c.Addr) {
		return fmt.Errorf("--addr must be an address and a port such as 127.0.0.1:8080, or :8080 for every address, not %q", c.Addr)
	}
	sip, err := listenIP(c.SIPAddr)
	if err != nil {
		return err
	}
	if !c.MediaIP.IsValid() {
		c.MediaIP = sip
	}
	if !c.PublicIP.IsValid() {
		c.PublicIP = sip
	}
	if c.PublicIP.IsUnspecified() {
		return errors.New("--public-ip must be the address at which peers reach this machine: it is required when --sip-addr listens on every address")
	}
	if c.MediaIP.Unmap().Is4() != c.PublicIP.Unmap().Is4() {
		return fmt.Errorf("--media-ip %s and --public-ip %s must both be IPv4 or both IPv6", c.MediaIP, c.PublicIP)
	}
	if c.PublicHost == "" {
		c.PublicHost = c.PublicIP.String()
	}
	if c.DNSServer != "" && !hostAndPort(c.DNSServer) {
		return fmt.Errorf("--dns-server must be an address and a port such as 192.0.2.53:53, not %q", c.DNSServer)
	}
	if c.AllowPrivate == nil {
		c.AllowPrivate = new(sip.IsLoopback())
	}
	return nil
}

// hostAndPort reports whether a text has the form HOST:PORT with a numeric port. The host may be empty.
func hostAndPort(text string) bool {
	_, port, err := net.SplitHostPort(text)
	_, portErr := strconv.ParseUint(port, 10, 16)
	return err == nil && portErr == nil
}

// listenIP returns the IP address in --sip-addr, or 0.0.0.0 if it names only a port.
func listenIP(text string) (netip.Addr, error) {
	if text == "" {
		return netip.Addr{}, errors.New("--sip-addr must not be empty: a program must start its Config from platform.Defaults()")
	}
	wrong := fmt.Errorf("--sip-addr must be an IP address and a port such as 192.0.2.1:5061, or :5061 for every address, not %q; "+
		"a name for peers goes into --public-host", text)
	host, _, err := net.SplitHostPort(text)
	if err != nil || !hostAndPort(text) {
		return netip.Addr{}, wrong
	}
	if host == "" {
		return netip.IPv4Unspecified(), nil
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}, wrong
	}
	return ip, nil
}

// notListening adds the flag name, the address and a remedy to an error about a listen address. It returns other errors unchanged.
func notListening(name, addr string, err error) error {
	failed, ok := errors.AsType[*net.OpError](err)
	switch {
	case !ok:
		return err
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s %s: another program listens there, perhaps another server: stop it, or choose another port", name, addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s %s: this machine does not have that address: choose one of its addresses, or give only the port, such as :8080, to listen on all of them", name, addr)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s %s: this user may not listen there: choose a port from 1024, or grant the program the capability CAP_NET_BIND_SERVICE", name, addr)
	default:
		return fmt.Errorf("%s %s: %w", name, addr, failed.Err)
	}
}

// allowsPrivate reports whether trunks and webhooks may point at private addresses.
func (c Config) allowsPrivate() bool { return c.AllowPrivate != nil && *c.AllowPrivate }
