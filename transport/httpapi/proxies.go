package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/callwright/callwright"
)

// TrustProxies returns a handler that attributes requests of trusted proxies to their clients. It sets RemoteAddr to the client's address,
// with port 0, before it calls h, so that logs, limits and letters of authorization use that address. Requests from other addresses are
// unchanged, and their headers are ignored.
//
// Forwarded (RFC 7239) and X-Forwarded-For are read from the right, past trusted proxies only, because a client can forge the entries left
// of its own address. An entry without an address, such as "unknown" or an obfuscated name, ends the search: the request is attributed to
// the proxy that wrote the entry. If both headers are present and name different clients, the client may have sent one of them itself, so
// the request is attributed to the proxy.
func TrustProxies(trusted []netip.Prefix, h http.Handler) http.Handler {
	if len(trusted) == 0 {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		remote, err := netip.ParseAddrPort(r.RemoteAddr)
		if proxy := plainAddr(remote.Addr()); err == nil && contains(trusted, proxy) {
			if client := forwardedClient(trusted, proxy, r.Header); client != proxy {
				r = r.Clone(r.Context())
				r.RemoteAddr = netip.AddrPortFrom(client, 0).String()
			}
		}
		h.ServeHTTP(w, r)
	})
}

func contains(prefixes []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(a) })
}

// plainAddr returns an address without an IPv4-in-IPv6 form and without a zone, which would keep it from matching a prefix.
func plainAddr(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// forwardedClient returns the client that the headers of a trusted proxy name, or the proxy's address if they name none or contradict each
// other.
func forwardedClient(trusted []netip.Prefix, proxy netip.Addr, h http.Header) netip.Addr {
	var named []netip.Addr
	if hops := h.Values("Forwarded"); len(hops) > 0 {
		named = append(named, walk(trusted, proxy, forwardedHops(strings.Join(hops, ","))))
	}
	if hops := h.Values("X-Forwarded-For"); len(hops) > 0 {
		named = append(named, walk(trusted, proxy, strings.Split(strings.Join(hops, ","), ",")))
	}
	if len(named) == 0 || len(named) == 2 && named[0] != named[1] {
		return proxy
	}
	return named[0]
}

// walk reads the hops from the right, starting at the proxy's address. It returns the first address that is not a trusted proxy, or the
// last address before an invalid hop. If all hops are trusted proxies, it returns the leftmost.
func walk(trusted []netip.Prefix, at netip.Addr, hops []string) netip.Addr {
	for _, hop := range slices.Backward(hops) {
		next, ok := hopAddr(strings.TrimSpace(hop))
		if !ok {
			return at
		}
		at = next
		if !contains(trusted, at) {
			return at
		}
	}
	return at
}

// hopAddr parses an address with or without a port: 192.0.2.1, 192.0.2.1:80, 2001:db8::1, [2001:db8::1] or [2001:db8::1]:80.
func hopAddr(text string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(text); err == nil {
		return plainAddr(a), true
	}
	host, _, err := net.SplitHostPort(text)
	if err != nil {
		inner, open := strings.CutPrefix(text, "[")
		var closed bool
		if host, closed = strings.CutSuffix(inner, "]"); !open || !closed {
			return netip.Addr{}, false
		}
	}
	a, err := netip.ParseAddr(host)
	return plainAddr(a), err == nil
}

// forwardedHops returns the "for" parameter of each element of a Forwarded header. It returns an empty text for a malformed element and for
// an element without the parameter. It does not skip such an element: the client may have left a quote open that makes the proxy's own
// element part of it.
func forwardedHops(text string) []string {
	var hops []string
	for _, element := range splitQuoted(text, ',') {
		hops = append(hops, forwardedFor(element))
	}
	return hops
}

func forwardedFor(element string) (hop string) {
	seen := map[string]bool{}
	for _, text := range splitQuoted(element, ';') {
		pair := forwardedPair.FindStringSubmatch(text)
		if pair == nil {
			return ""
		}
		name := strings.ToLower(pair[1])
		if seen[name] { // parameters must not repeat (RFC 7239, section 4)
			return ""
		}
		seen[name] = true
		if name == "for" {
			hop = strings.Trim(pair[2], `"`)
		}
	}
	return hop
}

// forwardedPair matches a parameter of Forwarded. It also accepts an address in brackets without the quotes that RFC 7239 requires.
var forwardedPair = regexp.MustCompile(`^\s*([!#$%&'*+.^_|~0-9A-Za-z` + "`" + `-]+)=("(?:[^"\\]|\\.)*"|[^",;\\\s]+)\s*$`)

// splitQuoted splits a text at separators outside of quoted strings (RFC 9110, section 5.6.4). An unclosed quote extends to the end of the
// text.
func splitQuoted(text string, separator byte) []string {
	var parts []string
	quoted, start := false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

// ParseProxies parses a comma-separated list of addresses and prefixes, such as "10.0.0.0/8, 192.0.2.7".
func ParseProxies(text string) ([]netip.Prefix, error) {
	var prefixes []netip.Prefix
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(part)
		if a, addrErr := netip.ParseAddr(part); addrErr == nil {
			a = plainAddr(a)
			prefix, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return nil, callwright.Invalid("", "must be addresses or prefixes such as 10.0.0.0/8, separated by commas, not %q", part)
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	return prefixes, nil
}
