package resolve

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
)

// The services of SIP in SRV records (RFC 3263, section 4.1).
const (
	SIPOverUDP  = "_sip._udp"
	SIPOverTCP  = "_sip._tcp"
	SIPSOverTCP = "_sips._tcp"
)

// SRV is a DNS SRV record of a SIP service.
type SRV struct {
	Service          string // SIPOverUDP, SIPOverTCP or SIPSOverTCP
	Target           string // in lower case, without the final dot
	Port             uint16
	Priority, Weight uint16
}

// Records contains the DNS records of a host that may accept SIP.
type Records struct {
	SRV       []SRV // at most MaxTargets per service; grouped by service, each group in the order of RFC 2782
	Addresses []netip.Addr
}

// Records returns the SRV records of a host for SIP over TLS, TCP and UDP, and the host's addresses. For an IP address it returns only the
// address. It returns CodeUnavailable if no query returns a record.
func (r *Resolver) Records(ctx context.Context, host string) (Records, error) {
	if literal, err := netip.ParseAddr(host); err == nil {
		return Records{Addresses: []netip.Addr{literal.Unmap()}}, nil
	}
	services := []string{SIPSOverTCP, SIPOverTCP, SIPOverUDP}
	found := make([][]SRV, len(services))
	failures := make([]error, len(services)+1)
	var records Records
	var wg sync.WaitGroup
	wg.Go(func() { records.Addresses, failures[0] = r.Addresses(ctx, host) })
	for i, service := range services {
		wg.Go(func() { found[i], failures[i+1] = r.srv(ctx, service, host) })
	}
	wg.Wait()
	for _, list := range found {
		records.SRV = append(records.SRV, order(list, r.random)...)
	}
	if len(records.SRV) == 0 && failures[0] != nil {
		return Records{}, failures[0]
	}
	return records, nil
}

// srv returns the SRV records of a service at a host, unordered. It returns none, and no error, if the host has none.
func (r *Resolver) srv(ctx context.Context, service, host string) ([]SRV, error) {
	return r.services.get(question{service, host}, func() ([]SRV, error) {
		name, proto, _ := strings.Cut(strings.TrimPrefix(service, "_"), "._")
		// LookupSRV may return well-formed records together with an error about malformed ones.
		_, found, err := r.dns.LookupSRV(ctx, name, proto, absolute(host))
		if len(found) == 0 && err != nil && !notFound(err) {
			return nil, failure(ctx, host, err)
		}
		records := make([]SRV, 0, len(found))
		for _, f := range found {
			records = append(records, recordOf(service, f))
		}
		return records, nil
	})
}

func recordOf(service string, f *net.SRV) SRV {
	target := strings.ToLower(strings.TrimSuffix(f.Target, "."))
	return SRV{Service: service, Target: target, Port: f.Port, Priority: f.Priority, Weight: f.Weight}
}

// order returns at most MaxTargets records in the order in which to try them (RFC 2782): by priority, and at random by weight among records
// of the same priority. It omits records whose target is the root, which means that the service is not available, and records with port 0.
func order(records []SRV, random func(int) int) []SRV {
	// Records of weight 0 come first in the running sum, so they have a small chance to be chosen.
	left := slices.SortedFunc(slices.Values(records), func(a, b SRV) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(min(a.Weight, 1), min(b.Weight, 1)))
	})
	left = slices.DeleteFunc(left, func(s SRV) bool { return s.Target == "" || s.Port == 0 })
	ordered := make([]SRV, 0, min(len(left), MaxTargets))
	for len(left) > 0 && len(ordered) < MaxTargets {
		i := choose(left, random)
		ordered = append(ordered, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return ordered
}

// choose returns the index of a record, chosen at random by weight among the records with the first record's priority.
func choose(records []SRV, random func(int) int) int {
	sum, same := 0, 0
	for _, r := range records {
		if r.Priority != records[0].Priority {
			break
		}
		sum += int(r.Weight)
		same++
	}
	mark := random(sum + 1)
	for i, r := range records[:same] {
		if mark -= int(r.Weight); mark <= 0 {
			return i
		}
	}
	return same - 1
}
