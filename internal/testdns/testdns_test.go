package testdns_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/miekg/dns"
	"go.uber.org/goleak"

	"github.com/callwright/callwright/internal/testdns"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func addresses(t *testing.T, r *net.Resolver, host string) []string {
	t.Helper()
	found, err := r.LookupNetIP(within(t, 10*time.Second), "ip", host)
	if err != nil {
		t.Fatalf("%s: %v", host, err)
	}
	var texts []string
	for _, a := range found {
		texts = append(texts, a.Unmap().String())
	}
	slices.Sort(texts)
	return texts
}

func TestAnswersFromItsZone(t *testing.T) {
	t.Parallel()
	s := testdns.Start(t,
		"pbx.test. A 192.0.2.1", "pbx.test. A 192.0.2.2", "pbx.test. AAAA 2001:db8::1", "www.test. CNAME PBX.test.",
		"_sips._tcp.pbx.test. SRV 10 20 5061 pbx.test.", "_sips._tcp.pbx.test. SRV 5 0 5062 www.test.")
	r := s.Resolver()
	want := []string{"192.0.2.1", "192.0.2.2", "2001:db8::1"}
	for _, host := range []string{"pbx.test.", "Pbx.Test.", "www.test."} {
		if got := addresses(t, r, host); !slices.Equal(got, want) {
			t.Errorf("%s = %v, want %v", host, got, want)
		}
	}
	_, records, err := r.LookupSRV(t.Context(), "sips", "tcp", "pbx.test.")
	if err != nil || len(records) != 2 || *records[0] != (net.SRV{Target: "www.test.", Port: 5062, Priority: 5}) ||
		*records[1] != (net.SRV{Target: "pbx.test.", Port: 5061, Priority: 10, Weight: 20}) {
		t.Errorf("SRV = %v, %v", records, err)
	}
	if n := s.Asked("_sips._tcp.pbx.test", "SRV"); n != 1 {
		t.Errorf("asked for SRV %d times, want once", n)
	}
	if n := s.Asked("www.test", ""); n != 2 {
		t.Errorf("asked about the alias %d times, want for A and AAAA", n)
	}
	s.Set(t, "pbx.test. A 192.0.2.9")
	if got := addresses(t, r, "pbx.test."); !slices.Equal(got, []string{"192.0.2.9"}) {
		t.Errorf("after Set = %v", got)
	}
}

func TestHundredsOfRecordsComeOverTCP(t *testing.T) {
	t.Parallel()
	var zone []string
	for i := range 400 {
		zone = append(zone, fmt.Sprintf("many.test. A 192.0.%d.%d", i/200, i%200+1))
	}
	s := testdns.Start(t, zone...)
	if got := addresses(t, s.Resolver(), "many.test."); len(got) != len(zone) {
		t.Errorf("%d addresses came, want %d", len(got), len(zone))
	}
}

func TestIsAsBrokenAsTold(t *testing.T) {
	t.Parallel()
	s := testdns.Start(t,
		"a.loop.test. CNAME b.loop.test.", "b.loop.test. CNAME a.loop.test.",
		"silent.test. A 192.0.2.1", "broken.test. A 192.0.2.1", "_sips._tcp.only.test. SRV 0 0 5061 elsewhere.test.")
	s.Silence("silent.test")
	s.Fail("broken.test")
	for name, want := range map[string]func(*net.DNSError) bool{
		"none.test.":            func(e *net.DNSError) bool { return e.IsNotFound },
		"_sips._tcp.only.test.": func(e *net.DNSError) bool { return e.IsNotFound },
		"a.loop.test.":          func(e *net.DNSError) bool { return !e.IsTimeout },
		"silent.test.":          func(e *net.DNSError) bool { return e.IsTimeout },
		"broken.test.":          func(e *net.DNSError) bool { return e.IsTemporary && !e.IsTimeout },
	} {
		limit := 10 * time.Second
		if name == "silent.test." {
			limit = 200 * time.Millisecond
		}
		got, err := s.Resolver().LookupNetIP(within(t, limit), "ip", name)
		e, ok := errors.AsType[*net.DNSError](err)
		if !ok || !want(e) {
			t.Errorf("%s = %v, %#v", name, got, err)
		}
	}
}

func TestDelay(t *testing.T) {
	t.Parallel()
	s := testdns.Start(t, "slow.test. A 192.0.2.1")
	s.Delay("slow.test", 50*time.Millisecond)
	began := time.Now()
	if got := addresses(t, s.Resolver(), "slow.test."); !slices.Equal(got, []string{"192.0.2.1"}) {
		t.Errorf("late answer = %v", got)
	}
	if took := time.Since(began); took < 50*time.Millisecond {
		t.Errorf("answered after %s", took)
	}
	s.Delay("slow.test", time.Hour) // the server stops without waiting for the delay
	if _, err := s.Resolver().LookupNetIP(within(t, 50*time.Millisecond), "ip", "slow.test."); err == nil {
		t.Error("an answer came early")
	}
}

// TestServesAnyClient checks that a client other than Resolver can query the address over UDP and TCP.
func TestServesAnyClient(t *testing.T) {
	t.Parallel()
	s := testdns.Start(t, "pbx.test. A 192.0.2.1")
	question := new(dns.Msg)
	question.SetQuestion("pbx.test.", dns.TypeA)
	for _, network := range []string{"udp", "tcp"} {
		client := dns.Client{Net: network}
		answer, _, err := client.ExchangeContext(within(t, 10*time.Second), question, s.Address())
		if err != nil || len(answer.Answer) != 1 {
			t.Errorf("over %s: %v, %v", network, answer, err)
		}
	}
}
