package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi"
)

// addresses fills in where this machine is reached.
func (c *config) addresses(given texts) error {
	if !hostAndPort(c.Addr) {
		return fmt.Errorf("--addr must be an address and a port such as 127.0.0.1:8080, not %q", c.Addr)
	}
	sip, err := listenIP(c.SIPAddr)
	if err != nil {
		return err
	}
	if c.MediaIP, err = addrOr("--media-ip", given.mediaIP, sip); err != nil {
		return err
	}
	if c.PublicIP, err = addrOr("--public-ip", given.publicIP, sip); err != nil {
		return err
	}
	if c.PublicIP.IsUnspecified() {
		return errors.New("--public-ip is required when --sip-addr listens on every address")
	}
	if c.MediaIP.Unmap().Is4() != c.PublicIP.Unmap().Is4() {
		return fmt.Errorf("--media-ip %s and --public-ip %s must both be IPv4 or both IPv6", c.MediaIP, c.PublicIP)
	}
	if c.PublicHost == "" {
		c.PublicHost = c.PublicIP.String()
	}
	for text := range strings.SplitSeq(given.firewallIPs, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		ip, err := netip.ParseAddr(text)
		if err != nil {
			return fmt.Errorf("--firewall-ips must be IP addresses with commas between them, and %q is none", text)
		}
		c.FirewallIPs = append(c.FirewallIPs, ip.String())
	}
	if c.PortedCallsFrom, err = networks("--ported-calls-from", given.portedCallsFrom); err != nil {
		return err
	}
	if c.SIPTrusted, err = networks("--sip-trusted", given.sipTrusted); err != nil {
		return err
	}
	if c.DNSServer != "" && !hostAndPort(c.DNSServer) {
		return fmt.Errorf("--dns-server must be an address and a port such as 192.0.2.53:53, not %q", c.DNSServer)
	}
	if c.TrustedProxies, err = httpapi.ParseProxies(given.trustedProxies); err != nil {
		return fmt.Errorf("--trusted-proxies %w", err)
	}
	c.AllowPrivate = sip.IsLoopback()
	if given.allowPrivate != "" {
		if c.AllowPrivate, err = strconv.ParseBool(given.allowPrivate); err != nil {
			return errors.New("--allow-private must be true or false")
		}
	}
	return nil
}

// networks reads a flag with addresses and networks.
func networks(name, given string) (all []netip.Prefix, err error) {
	for text := range strings.SplitSeq(given, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		network, err := callwright.ParseNetwork(text)
		if err != nil {
			return nil, fmt.Errorf("%s must be IP addresses and networks with commas between them, and %q is none", name, text)
		}
		all = append(all, network)
	}
	return all, nil
}

// hostAndPort reports whether a text is a host, which may be empty, and a number of a port.
func hostAndPort(text string) bool {
	_, port, err := net.SplitHostPort(text)
	_, portErr := strconv.ParseUint(port, 10, 16)
	return err == nil && portErr == nil
}

// listenIP returns the address of --sip-addr.
func listenIP(text string) (netip.Addr, error) {
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

// addrOr returns the address that a flag gives, or another one without.
func addrOr(name, text string, otherwise netip.Addr) (netip.Addr, error) {
	if text == "" {
		return otherwise, nil
	}
	ip, err := netip.ParseAddr(text)
	if err != nil {
		return ip, fmt.Errorf("%s must be an IP address such as 192.0.2.1, not %q", name, text)
	}
	return ip, nil
}

// notListening says what to do about an address of a flag that cannot be listened at. Other errors stay as they are.
func notListening(name, addr string, err error) error {
	failed, ok := errors.AsType[*net.OpError](err)
	switch {
	case !ok:
		return err
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s %s: another program listens there, perhaps another server: stop it, or give another port", name, addr)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s %s: this machine does not have that address: give one that it has, or none before the port for all", name, addr)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s %s: this user may not listen there: give a port from 1024 on, or the right to the program", name, addr)
	default:
		return fmt.Errorf("%s %s: %w", name, addr, failed.Err)
	}
}
