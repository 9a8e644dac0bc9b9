package transport_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/sipua/internal/transport"
)

// excessive contains headers of messages that are within the size limit, but that sipgo would parse into large structures or very slowly.
var excessive = map[string]string{
	"header fields":         strings.Repeat("a:\r\n", 16000),
	"header fields of one":  strings.Repeat("v: a\r\n", 10000),
	"lines of one field":    "X: a\r\n" + strings.Repeat(" \r\n", 21000),
	"lines of a Via":        "v: a\r\n" + strings.Repeat("\t\r\n", 21000),
	"values":                "Contact: <sip:a>" + strings.Repeat(",<sip:a>", 7000) + "\r\n",
	"Routes":                "Route: " + strings.Repeat("<sip:a>,", 7000) + "<sip:a>\r\n",
	"Vias":                  "Via: " + strings.Repeat("SIP/2.0/TLS a,", 4000) + "SIP/2.0/TLS a\r\n",
	"parameters":            "Contact: <sip:a>" + numbered(";%d", 10000) + "\r\n",
	"parameters of a URI":   "Contact: <sip:a" + numbered(";%d", 10000) + ">\r\n",
	"headers of a URI":      "Contact: <sip:a?a" + numbered("&%d", 10000) + ">\r\n",
	"tokens":                "Require: " + strings.Repeat("a,", 30000) + "\r\n",
	"parameters of a field": "X: a" + strings.Repeat(";", 60000) + "\r\n",
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestFramerRefusesExcess checks that a message with too many headers or parameters is refused before it is parsed, and that its connection
// continues.
func TestFramerRefusesExcess(t *testing.T) { //nolint:paralleltest // it measures the memory that the process allocates
	for name, headers := range excessive {
		t.Run(name, func(t *testing.T) {
			stream := []byte(options("excess", "body", strings.TrimSuffix(headers, "\r\n")) + options("good", ""))
			var f transport.Framer
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			whole, refusals, err := f.Feed(stream)
			runtime.ReadMemStats(&after)
			if err != nil || len(whole) != 1 || len(refusals) != 1 || !strings.HasPrefix(refusals[0], "SIP/2.0 400 ") {
				t.Errorf("%v, %d messages, %.200q", err, len(whole), refusals)
			}
			if most := uint64(8 * transport.MaxMessage); after.TotalAlloc-before.TotalAlloc > most {
				t.Errorf("it took %d bytes to refuse, not at most %d", after.TotalAlloc-before.TotalAlloc, most)
			}
		})
	}
}

// TestFramerTakesManyHeaders checks that a message at the limits is parsed, and that one more header line or parameter is refused.
func TestFramerTakesManyHeaders(t *testing.T) {
	t.Parallel()
	const already = 6 // number of headers that options adds, including Content-Length
	for name, headers := range map[string]string{
		"header fields": strings.TrimSuffix(strings.Repeat("X: b\r\n", transport.MaxLines-already), "\r\n"),
		"parts":         "X: " + strings.Repeat(",", transport.MaxParts-2), // options itself adds two parameters
	} {
		for more, want := range map[string]int{"": 1, "\r\nX: ,": 0} {
			var f transport.Framer
			whole, refusals, err := f.Feed([]byte(options("many", "a,b;c\r\nd\r\n", headers+more)))
			if err != nil || len(whole) != want || len(refusals) != 1-want {
				t.Errorf("%s%q: %v, %d messages, %.200q", name, more, err, len(whole), refusals)
			}
		}
	}
}
