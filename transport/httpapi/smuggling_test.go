package httpapi_test

import (
	"fmt"
	"testing"
	"testing/synctest"
)

// TestTwoLengths checks that the connection is closed after a request with an ambiguous end. Otherwise the bytes that follow could be read
// as another request (RFC 9112, section 6.1).
func TestTwoLengths(t *testing.T) {
	t.Parallel()
	h := open(t)
	for name, want := range map[string]int{"POST /v1/calls": 400, "POST /v1/nothing": 404, "GET /healthz": 200} {
		synctest.Test(t, func(t *testing.T) {
			client := dialed(t, h.unchecked)
			go func() {
				_, _ = fmt.Fprintf(client, "%s HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Type: application/json\r\nContent-Length: 6\r\n"+
					"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", name, h.key)
			}()
			if status, text := answered(t, name, client); status != want {
				t.Errorf("%s: %d %s", name, status, text)
			}
		})
	}
}
