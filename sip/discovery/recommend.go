package discovery

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/callwright/callwright/sip/fingerprint"
	"github.com/callwright/callwright/sip/uri"
)

// The notes on ways that are less secure than calls.
const (
	noteClear       = "The server responds only without encryption, but calls require TLS: enable TLS there."
	noteCertificate = "The server's certificate fails verification: install a valid one, or set options.tls_verification."
)

// recommend selects among the targets that have responded: targets named in the request first, then by security, then by the
// priority of SRV records, then by response time. It returns nil without a response.
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
		r.System.Note = strings.TrimSpace(r.System.Note + " " + noteClear + overTLS(answers))
	case !trusted(a.TLS, now):
		r.System.Note = strings.TrimSpace(r.System.Note + " " + noteCertificate)
	}
	return r
}

func better(t target, a Answer, than target, thanAnswer Answer, now time.Time) bool {
	return cmp.Or(
		typed(than)-typed(t),
		cmp.Compare(security(thanAnswer, now), security(a, now)),
		cmp.Compare(t.priority, than.priority),
		cmp.Compare(a.ResponseTime, thanAnswer.ResponseTime),
	) < 0
}

// typed returns 1 for a target that the request names.
func typed(t target) int {
	if t.typed {
		return 1
	}
	return 0
}

// overTLS continues a note with the port that responds over TLS; empty without one.
func overTLS(answers []*Answer) string {
	for _, a := range answers {
		if a != nil && a.Code != 0 && a.Transport == uri.TLS {
			return fmt.Sprintf(" Port %d responds over TLS.", a.Address.Port())
		}
	}
	return ""
}

// security returns the rank of an answer's security.
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

// trusted reports whether calls accept a certificate by default.
func trusted(c *Certificate, now time.Time) bool {
	return c != nil && c.Chain && c.Name && now.Before(c.ExpiresAt)
}
