package discovery

import (
	"cmp"
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

// recommend chooses among the targets that have responded: by security, then by the priority of SRV records, then by
// response time. It returns nil without a response.
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
