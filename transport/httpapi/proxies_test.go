package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/transport/httpapi"
)

// seenFrom returns the RemoteAddr that TrustProxies sets for a request from remote.
func seenFrom(t testing.TB, trusted, remote string, header http.Header) string {
	t.Helper()
	prefixes, err := httpapi.ParseProxies(trusted)
	if err != nil {
		t.Fatal(err)
	}
	seen := ""
	h := httpapi.TrustProxies(prefixes, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.RemoteAddr }))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.RemoteAddr, r.Header = remote, header
	h.ServeHTTP(httptest.NewRecorder(), r)
	return seen
}

func TestTrustProxies(t *testing.T) {
	t.Parallel()
	const proxies, proxy = "10.0.0.0/8, 2001:db8::7", "10.0.0.1:5000"
	for name, tt := range map[string]struct{ remote, forwarded, xff, want string }{
		"no header":                 {proxy, "", "", proxy},
		"a client":                  {proxy, "", "203.0.113.5", "203.0.113.5:0"},
		"a client with a port":      {proxy, "", "203.0.113.5:6000", "203.0.113.5:0"},
		"IPv6":                      {proxy, "", "2001:db8::9", "[2001:db8::9]:0"},
		"IPv6 with a port":          {proxy, "", "[2001:db8::9]:80", "[2001:db8::9]:0"},
		"IPv6 in brackets":          {proxy, "", "[2001:db8::9]", "[2001:db8::9]:0"},
		"what the client wrote":     {proxy, "", "198.51.100.1, 203.0.113.5", "203.0.113.5:0"},
		"past trusted proxies":      {proxy, "", "198.51.100.1, 203.0.113.5, 10.0.0.3, 2001:db8::7", "203.0.113.5:0"},
		"mapped":                    {proxy, "", "203.0.113.5, ::ffff:10.0.0.3", "203.0.113.5:0"},
		"proxies only":              {proxy, "", "10.0.0.9, 10.0.0.3", "10.0.0.9:0"},
		"no address":                {proxy, "", "198.51.100.1, unknown", proxy},
		"no address behind a proxy": {proxy, "", "198.51.100.1, unknown, 10.0.0.3", "10.0.0.3:0"},
		"empty":                     {proxy, "", ",", proxy},
		"a stranger":                {"203.0.113.9:1", "for=198.51.100.1", "198.51.100.1", "203.0.113.9:1"},
		"a proxy over IPv6":         {"[2001:db8::7]:1", "", "203.0.113.5", "203.0.113.5:0"},
		"a proxy that is mapped":    {"[::ffff:10.0.0.1]:1", "", "203.0.113.5", "203.0.113.5:0"},
		"a Unix socket":             {"@", "", "203.0.113.5", "@"},
		"Forwarded":                 {proxy, "for=203.0.113.5;proto=https;by=10.0.0.1", "", "203.0.113.5:0"},
		"Forwarded, capitals":       {proxy, "Proto=https; For=203.0.113.5", "", "203.0.113.5:0"},
		"Forwarded, quoted":         {proxy, `for="[2001:db8::9]:4711"`, "", "[2001:db8::9]:0"},
		"Forwarded, from the right": {proxy, `for=198.51.100.1, for="203.0.113.5:80", for=10.0.0.3`, "", "203.0.113.5:0"},
		"Forwarded, a comma inside": {proxy, `for=198.51.100.1, for=203.0.113.5;host="a,for=198.51.100.2"`, "", "203.0.113.5:0"},
		"Forwarded, an open quote":  {proxy, `for=203.0.113.5, host="a, for=198.51.100.2`, "", proxy},
		"Forwarded, hidden":         {proxy, "for=198.51.100.1, for=_hidden", "", proxy},
		"Forwarded, none":           {proxy, "for=198.51.100.1, proto=https", "", proxy},
		"Forwarded, a quote left open by the client": {proxy, `for=198.51.100.1;x=", for="[2001:db8::9]"`, "", proxy},
		"Forwarded, a parameter twice":               {proxy, "for=198.51.100.1;for=203.0.113.5", "", proxy},
		"Forwarded, another twice":                   {proxy, "for=203.0.113.5;proto=http;Proto=https", "", proxy},
		"Forwarded, twice left of a client":          {proxy, "for=198.51.100.1;For=198.51.100.2, for=203.0.113.5", "", "203.0.113.5:0"},
		"both, alike":                                {proxy, "for=203.0.113.5", "203.0.113.5", "203.0.113.5:0"},
		"both, different":                            {proxy, "for=198.51.100.1", "203.0.113.5", proxy},
	} {
		h := http.Header{}
		if tt.forwarded != "" {
			h.Set("Forwarded", tt.forwarded)
		}
		if tt.xff != "" {
			h.Set("X-Forwarded-For", tt.xff)
		}
		if got := seenFrom(t, proxies, tt.remote, h); got != tt.want {
			t.Errorf("%s: seen from %s, want %s", name, got, tt.want)
		}
	}
	lines := http.Header{"X-Forwarded-For": {"198.51.100.1", "203.0.113.5, 10.0.0.3"}}
	if got := seenFrom(t, proxies, proxy, lines); got != "203.0.113.5:0" {
		t.Errorf("with two lines seen from %s", got)
	}
	if got := seenFrom(t, "", proxy, lines); got != proxy {
		t.Errorf("without trusted proxies seen from %s", got)
	}
}

func TestParseProxies(t *testing.T) {
	t.Parallel()
	got, err := httpapi.ParseProxies(" 10.1.2.3/8,192.0.2.7 , 2001:db8::1/32,::ffff:192.0.2.8,")
	want := []string{"10.0.0.0/8", "192.0.2.7/32", "2001:db8::/32", "192.0.2.8/32"}
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %v, %v", got, err)
	}
	for i, p := range got {
		if p.String() != want[i] {
			t.Errorf("got %s, want %s", p, want[i])
		}
	}
	for _, bad := range []string{"proxy.example.com", "10.0.0.0/33", "10.0.0.1:80"} {
		if _, err := httpapi.ParseProxies(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q gave %v", bad, err)
		}
	}
}

// FuzzForwarded checks that entries to the left of the trusted proxy's entry do not change the result. Only an open quote may hide the
// proxy's entry of Forwarded; the proxy's own address then remains.
func FuzzForwarded(f *testing.F) {
	f.Add(`for=198.51.100.1`, "198.51.100.1")
	f.Add(`for="`, ",,")
	f.Add(`for="\`, "[::1")
	f.Add(`for=198.51.100.1;x="`, "")
	f.Fuzz(func(t *testing.T, forwarded, xff string) {
		// net/http passes one line as a value. If the client leaves a quote open, the quoted string includes the proxy's entry, so that the
		// line counts as empty.
		h := http.Header{"X-Forwarded-For": {xff + ", 203.0.113.5"}}
		if got := seenFrom(t, "10.0.0.1", "10.0.0.1:1", h); got != "203.0.113.5:0" {
			t.Errorf("X-Forwarded-For %q: seen from %s", xff, got)
		}
		for written, want := range map[string]string{", for=203.0.113.5": "203.0.113.5", `, for="[2001:db8::9]:80";proto=https`: "2001:db8::9"} {
			h = http.Header{"Forwarded": {forwarded + written}}
			got, err := netip.ParseAddrPort(seenFrom(t, "10.0.0.1", "10.0.0.1:1", h))
			if err != nil || got.Addr().String() != want && got.Addr().String() != "10.0.0.1" {
				t.Errorf("Forwarded %q: seen from %s, %v", forwarded, got, err)
			}
		}
	})
}

// TestClientBehindProxy signs a letter through a trusted proxy, and checks that the audit trail and the log contain the signer's address.
func TestClientBehindProxy(t *testing.T) {
	t.Parallel()
	h := open(t)
	proxies, err := httpapi.ParseProxies("192.0.2.1")
	if err != nil {
		t.Fatal(err)
	}
	api := httpapi.TrustProxies(proxies, h.Handler)
	h.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-Forwarded-For", "198.51.100.1, 203.0.113.5")
		api.ServeHTTP(w, r)
	})
	id, path := h.letter("+14155550100")
	form := signature(h.wantPage(h.browse(http.MethodGet, path, nil), http.StatusOK))
	if answer := h.browse(http.MethodPost, path, form); answer.Code >= http.StatusBadRequest {
		t.Fatalf("signing is answered with %d %s", answer.Code, answer.Body)
	}
	signed := false
	for _, event := range h.evidence(id).Events {
		if event.Kind == loa.EventSigned {
			signed = true
			if event.Origin.IP != "203.0.113.5" {
				t.Errorf("the trail has %q", event.Origin.IP)
			}
		}
	}
	if !signed || !strings.Contains(h.log.String(), `"client":"203.0.113.5"`) || strings.Contains(h.log.String(), `"client":"192.0.2.1"`) {
		t.Errorf("signed: %t; the log is %s", signed, h.log)
	}
}
