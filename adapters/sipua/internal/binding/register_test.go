package binding_test

import (
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/sipua/internal/binding"
)

func FuzzRegistered(f *testing.F) {
	f.Add([]byte("SIP/2.0 200 OK\r\nVia: SIP/2.0/TLS x;received=192.0.2.1;rport=5\r\nContact: <sip:us@x.test:5061>;expires=60\r\n\r\n"))
	f.Add([]byte("SIP/2.0 423 Brief\r\nMin-Expires: 99999999999\r\nRetry-After: 5 (x);y\r\nContact: *\r\n\r\n"))
	f.Add([]byte("S 503 \r\n\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		granted, received, refused, ok := binding.ReadResponse(data)
		if !ok {
			return
		}
		if granted < 0 || granted > 24*time.Hour || refused.MinExpires > 24*time.Hour || refused.RetryAfter > 24*time.Hour ||
			received.IsValid() && received.Port() == 0 || strings.ContainsAny(refused.Reason, "\r\n\x00") {
			t.Errorf("%s %s %+v", granted, received, refused)
		}
	})
}
