package page

import (
	"net/http"
	"sort"
	"time"

	"github.com/callwright/callwright"
)

// maxZone is the maximum length of a time zone's name, in bytes. Longer names are not looked up.
const maxZone = 64

// zoneName is the name of the session cookie in which the script sends the browser's time zone.
const zoneName = "zone"

// zoneCookie returns the text of the cookie that the script sets. It contains a question mark in place of the zone.
func (s *Site) zoneCookie() string {
	cookie := s.cookieName(zoneName) + "=?;path=/;samesite=strict"
	if s.cfg.Secure {
		cookie += ";secure"
	}
	return cookie
}

// zoneOf returns the time zone of the browser that makes a request. It is UTC if the cookie is absent or names an unknown zone.
func (s *Site) zoneOf(r *http.Request) *time.Location {
	c, err := r.Cookie(s.cookieName(zoneName))
	if err != nil || len(c.Value) > maxZone || c.Value == "Local" { // LoadLocation("Local") would return the zone of the server
		return time.UTC
	}
	zone, err := time.LoadLocation(c.Value)
	if err != nil {
		return time.UTC
	}
	return zone
}

// Zone returns the time zone of the browser, in which days begin and end. It is UTC until the script has set the cookie, for a browser
// without JavaScript, and for a zone that this server does not know. Pages that count days therefore name the zone.
func (r *Request) Zone() *time.Location { return r.zone }

// Span returns the period that a filter names. A date is the whole day in the browser's zone; for an instant, both returned times are
// equal. ok is false for any other text. callwright.TimeFormats describes valid texts.
func (r *Request) Span(text string) (from, until time.Time, ok bool) {
	at, isDate, ok := callwright.ParseTime(text)
	if !ok || !isDate {
		return at, at, ok
	}
	return startOfDay(at, r.zone), startOfDay(at.AddDate(0, 0, 1), r.zone), true
}

// startOfDay returns the first second, in zone, of the day that date has in its own location. Where clocks go forward at midnight, that day
// begins at 1:00. Where they go back to midnight, it begins at the first midnight.
func startOfDay(date time.Time, zone *time.Location) time.Time {
	y, m, d := date.Date()
	midnight := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	const furthest = 26 * time.Hour // exceeds the UTC offset of every zone
	first := midnight.Add(-furthest)
	seconds := sort.Search(int(2*furthest/time.Second), func(i int) bool {
		y, m, d := first.Add(time.Duration(i) * time.Second).In(zone).Date()
		return !time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Before(midnight)
	})
	return first.Add(time.Duration(seconds) * time.Second)
}
