package discovery

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/callwright/callwright/sip/fingerprint"
	"github.com/callwright/callwright/sip/uri"
)

// The notes about servers that are less secure than calls require.
const (
	noteClear       = "The server responds only without encryption, but calls require TLS: enable TLS there."
	noteCertificate = "The server's certificate fails verification: install a valid one, or set options.tls_verification."
)

// recommend selects the best target that has responded. It prefers targets that the request names, then greater security, then a lower SRV
// priority, then a shorter response time. It returns nil if no target has responded.
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

// typed returns 1 for a target that the request names, and 0 for others.
func typed(t target) int {
	if t.typed {
		return 1
	}
	return 0
}

// overTLS returns a sentence that names the first port that responds over TLS, or "" if none does.
func overTLS(answers []*Answer) string {
	for _, a := range answers {
		if a != nil && a.Code != 0 && a.Transport == uri.TLS {
			return fmt.Sprintf(" Port %d responds over TLS.", a.Address.Port())
		}
	}
	return ""
}

// security ranks an answer by its security, from 0 for UDP to 3 for TLS with a trusted certificate.
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

// trusted reports whether calls would accept a certificate with the default verification.
func trusted(c *Certificate, now time.Time) bool {
	return c != nil && c.Chain && c.Name && now.Before(c.ExpiresAt)
}
