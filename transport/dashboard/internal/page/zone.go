package page

import (
	"net/http"
	"sort"
	"time"

	"github.com/callwright/callwright"
)

// maxZone is the longest name of a time zone that is looked up, in bytes.
const maxZone = 64

// zoneName is the name of the cookie in which the script tells the time zone of the browser, for as long as the browser runs.
const zoneName = "zone"

// zoneCookie returns the cookie that the script sets, with a question mark in place of the zone.
func (s *Site) zoneCookie() string {
	cookie := s.cookieName(zoneName) + "=?;path=/;samesite=strict"
	if s.cfg.Secure {
		cookie += ";secure"
	}
	return cookie
}

// zoneOf returns the time zone of the browser that makes a request.
func (s *Site) zoneOf(r *http.Request) *time.Location {
	c, err := r.Cookie(s.cookieName(zoneName))
	if err != nil || len(c.Value) > maxZone || c.Value == "Local" { // "Local" is the zone of the server
		return time.UTC
	}
	zone, err := time.LoadLocation(c.Value)
	if err != nil {
		return time.UTC
	}
	return zone
}

// Zone returns the time zone of the browser, in which days begin and end. It is UTC until the script has told it, without JavaScript, and
// for a zone that this server does not know: pages that count days name the zone.
func (r *Request) Zone() *time.Location { return r.zone }

// Span returns the time that a filter names: the whole of a day in the browser's zone, or an instant that begins and ends at the same
// time. ok is false for a text that is neither, and callwright.TimeFormats describes valid texts.
func (r *Request) Span(text string) (from, until time.Time, ok bool) {
	at, isDate, ok := callwright.ParseTime(text)
	if !ok || !isDate {
		return at, at, ok
	}
	return startOfDay(at, r.zone), startOfDay(at.AddDate(0, 0, 1), r.zone), true
}

// startOfDay returns the first second of the date of a time in UTC, in another zone: where the clock is put forward at midnight, a day
// begins at 1:00, and where it is put back, midnight comes twice.
func startOfDay(date time.Time, zone *time.Location) time.Time {
	y, m, d := date.Date()
	midnight := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	const furthest = 26 * time.Hour // from UTC: more than any zone is
	first := midnight.Add(-furthest)
	seconds := sort.Search(int(2*furthest/time.Second), func(i int) bool {
		y, m, d := first.Add(time.Duration(i) * time.Second).In(zone).Date()
		return !time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Before(midnight)
	})
	return first.Add(time.Duration(seconds) * time.Second)
}
