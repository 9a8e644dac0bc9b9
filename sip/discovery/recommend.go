package discovery

import (
	"cmp"
	"strings"
	"time"

	"github.com/callwright/callwright/sip/fingerprint"
	"github.com/callwright/callwright/sip/uri"
)

// What to know of a way that is not as secure as calls are.
const (
	noteClear       = "It answers without encryption only, and calls go over TLS alone: turn on TLS there."
	noteCertificate = "Its certificate does not pass verification: give it one that does, or set options.tls_verification."
)

// recommend chooses among the targets that have answered: the most secure way first, then as SRV records say, then the
// fastest. It is nil when none has.
func recommend(targets []target, answers []*Answer, now time.Time) *Recommendation {
	best := -1
	for i, a := range answers {
		if a == nil || a.Code == 0 {
			continue
		}
		if best < 0 || better(targets[i], *a, targets[best], *answers[best], now) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	a := answers[best]
	r := &Recommendation{
		Port: a.Address.Port(), Transport: a.Transport, UserAgent: a.UserAgent,
		System: fingerprint.Identify(a.Headers), Codecs: a.Codecs, Methods: a.Methods,
	}
	switch {
	case a.Transport != uri.TLS:
		r.System.Note = strings.TrimSpace(r.System.Note + " " + noteClear)
	case !trusted(a.TLS, now):
		r.System.Note = strings.TrimSpace(r.System.Note + " " + noteCertificate)
	}
	return r
}

func better(t target, a Answer, than target, thanAnswer Answer, now time.Time) bool {
	return cmp.Or(
		cmp.Compare(security(thanAnswer, now), security(a, now)),
		cmp.Compare(t.priority, than.priority),
		cmp.Compare(a.ResponseTime, thanAnswer.ResponseTime),
	) < 0
}

// security ranks the ways to talk to a server.
func security(a Answer, now time.Time) int {
	switch {
	case a.Transport == uri.TLS && trusted(a.TLS, now):
		return 3
	case a.Transport == uri.TLS:
		return 2
	case a.Transport == uri.TCP:
		return 1
	default:
		return 0
	}
}

// trusted says whether calls would accept a certificate as they do by default.
func trusted(c *Certificate, now time.Time) bool {
	return c != nil && c.Chain && c.Name && now.Before(c.ExpiresAt)
}
