package page_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/browser"
	"github.com/callwright/callwright/transport/dashboard/internal/page"
	"github.com/callwright/callwright/transport/dashboard/pagetest"
)

// span requests the page /span for a date or time in text, and returns the output: the zone and the bounds in UTC, or "no time". If zone is
// empty, the request carries no cookie.
func (h *house) span(t *testing.T, zone, text string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL+"/span?at="+text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if zone != "" {
		r.AddCookie(&http.Cookie{Name: "callwright_zone", Value: zone})
	}
	_, body, _ := strings.Cut(pagetest.Do(t, h.client, r).Body, "<output>")
	body, _, _ = strings.Cut(body, "</output>")
	return body
}

// TestDaysOfZones checks the bounds of days in the cookie's zone, including days on which the zone's clocks change. An invalid cookie means
// UTC.
func TestDaysOfZones(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	h.signIn(t, "")
	for _, c := range []struct{ zone, text, want string }{
		{"", "2026-03-02", "UTC 2026-03-02T00:00:00Z 2026-03-03T00:00:00Z"},
		{"Europe/Berlin", "2026-03-02", "Europe/Berlin 2026-03-01T23:00:00Z 2026-03-02T23:00:00Z"},
		{"Europe/Berlin", "2026-03-29", "Europe/Berlin 2026-03-28T23:00:00Z 2026-03-29T22:00:00Z"}, // 23 hours
		{"Europe/Berlin", "2026-10-25", "Europe/Berlin 2026-10-24T22:00:00Z 2026-10-25T23:00:00Z"}, // 25 hours
		{"America/New_York", "2026-03-08", "America/New_York 2026-03-08T05:00:00Z 2026-03-09T04:00:00Z"},
		{"Australia/Lord_Howe", "2026-04-05", "Australia/Lord_Howe 2026-04-04T13:00:00Z 2026-04-05T13:30:00Z"},
		{"Asia/Beirut", "2026-03-29", "Asia/Beirut 2026-03-28T22:00:00Z 2026-03-29T21:00:00Z"},             // begins at 1:00
		{"America/Havana", "2026-11-01", "America/Havana 2026-11-01T04:00:00Z 2026-11-02T05:00:00Z"},       // 0:00 occurs twice
		{"America/Sao_Paulo", "2018-11-04", "America/Sao_Paulo 2018-11-04T03:00:00Z 2018-11-05T02:00:00Z"}, // begins at 1:00
		{"Pacific/Kiritimati", "2026-03-02", "Pacific/Kiritimati 2026-03-01T10:00:00Z 2026-03-02T10:00:00Z"},
		{"Pacific/Pago_Pago", "2026-12-31", "Pacific/Pago_Pago 2026-12-31T11:00:00Z 2027-01-01T11:00:00Z"},
		{"Asia/Tokyo", "2026-03-02T09:15:00Z", "Asia/Tokyo 2026-03-02T09:15:00Z 2026-03-02T09:15:00Z"},
		{"Asia/Tokyo", "2026-03-02T09:15:00%2B09:00", "Asia/Tokyo 2026-03-02T00:15:00Z 2026-03-02T00:15:00Z"},
		{"Asia/Tokyo", "monday", "no time"}, {"", "", "no time"}, {"", "2026-02-30", "no time"},
		{"Local", "2026-03-02", "UTC 2026-03-02T00:00:00Z 2026-03-03T00:00:00Z"},
		{"Nowhere/Else", "2026-03-02", "UTC 2026-03-02T00:00:00Z 2026-03-03T00:00:00Z"},
		{"../../etc/passwd", "2026-03-02", "UTC 2026-03-02T00:00:00Z 2026-03-03T00:00:00Z"},
		{strings.Repeat("x", 65), "2026-03-02", "UTC 2026-03-02T00:00:00Z 2026-03-03T00:00:00Z"},
	} {
		if got := h.span(t, c.zone, c.text); got != c.want {
			t.Errorf("%s in %q: %s, want %s", c.text, c.zone, got, c.want)
		}
	}
}

// TestLiveDaysAreOfTheirZone checks that two browsers in different zones that watch the same address each receive updates for their own
// zone.
func TestLiveDaysAreOfTheirZone(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	h.signIn(t, "")
	for _, zone := range []string{"Asia/Tokyo", "Europe/Berlin"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.URL+"/span?at=2026-03-02", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/event-stream")
		r.AddCookie(&http.Cookie{Name: "callwright_zone", Value: zone})
		stream, err := h.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Body.Close()
		var text strings.Builder
		for part := make([]byte, 1); !strings.Contains(text.String(), "</output>"); {
			if _, err := stream.Body.Read(part); err != nil {
				t.Fatalf("%s: %v after %s", zone, err, &text)
			}
			text.Write(part)
		}
		if !strings.Contains(text.String(), zone+" 2026-03-01") {
			t.Errorf("%s gets %s", zone, &text)
		}
	}
}

// TestCookieOfTheZone checks the text of the cookie that pages pass to the script. With Config.Secure, the cookie's name has the prefix
// __Host-.
func TestCookieOfTheZone(t *testing.T) {
	t.Parallel()
	for want, secure := range map[string]bool{
		`data-zone="callwright_zone=?;path=/;samesite=strict"`: false, `data-zone="__Host-callwright_zone=?;path=/;samesite=strict;secure"`: true,
	} {
		site, err := page.New(page.Config{Sessions: &keys{}, Secure: secure})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		site.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/login", nil))
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s in\n%s", want, w.Body)
		}
	}
}

// TestScriptTellsTheZone checks that a browser in New York is shown the bounds of a day in its zone.
func TestScriptTellsTheZone(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	p := browser.Open(t, true)
	p.Timezone(t, "America/New_York")
	p.Go(t, h.URL+"/login?next=/span%3Fat=2026-03-08")
	p.Type(t, "#key", goodKey)
	p.Click(t, "main button")
	p.AwaitText(t, "America/New_York 2026-03-08T05:00:00Z 2026-03-09T04:00:00Z") // the page loads again once it knows the zone
	if found := p.Errors(t); len(found) > 0 {
		t.Errorf("the browser reports %q", found)
	}
}
