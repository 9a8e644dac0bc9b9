package chart

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright"
)

const (
	width     = 480.0 // units of most pictures; about 1.5 units per pixel on the narrowest screens
	lineUnits = 18.0  // height of a line of text
	maxText   = 300   // maximum characters of a name or label before it is cut to fit
	maxSaid   = 20    // maximum items that a description lists
	maxID     = 100   // maximum characters of an ID
	colours   = 6     // number of the classes c1 to c6
)

// pen writes the body of a picture.
type pen struct {
	id    string
	links bool
	b     strings.Builder
}

// newPen returns a pen whose element ids begin with id, or with "chart" if id is empty. It replaces characters other than letters, digits,
// '-' and '_' by '-', and cuts id after maxID characters.
func newPen(id string) *pen {
	id = strings.Map(func(c rune) rune {
		if c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '-'
	}, id)
	if id == "" {
		id = "chart"
	}
	return &pen{id: id[:min(len(id), maxID)]}
}

// svg returns the complete picture. A picture with links has the role group, because screen readers ignore the children of an image.
func (p *pen) svg(class, title string, view ViewBox, said []string) template.HTML {
	role := "img"
	if p.links {
		role = "group"
	}
	if title = clean(title); title == "" {
		title = "Chart"
	}
	if view.W > width {
		class += " wide"
	}
	head := fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart %s\" viewBox=\"%s\" role=\"%s\" aria-labelledby=\"%s-title %s-desc\">\n"+
		"<title id=\"%s-title\">%s</title>\n<desc id=\"%s-desc\">%s</desc>\n",
		class, view, role, p.id, p.id, p.id, html.EscapeString(title), p.id, html.EscapeString(strings.Join(said, "\n")))
	return template.HTML(head + p.b.String() + "</svg>\n") //nolint:gosec // clean and html.EscapeString have seen every text
}

// none returns a picture with a text that says that there are no data.
func (p *pen) none(class, title, text string, h float64) template.HTML {
	p.text(width/2, h/2+5, "note mid", text, width)
	return p.svg(class, title, ViewBox{W: width, H: h}, []string{text})
}

// shape writes an element without content. attrs are pairs of a name and a float64 or a string; class may be empty.
func (p *pen) shape(tag, class string, attrs ...any) {
	p.tag(tag, class, attrs...)
	p.b.WriteString("/>\n")
}

// open writes the start tag of an element. The method end writes the end tag.
func (p *pen) open(tag, class string, attrs ...any) {
	p.tag(tag, class, attrs...)
	p.b.WriteString(">\n")
}

func (p *pen) end(tag string) { p.write("</", tag, ">\n") }

func (p *pen) tag(tag, class string, attrs ...any) {
	p.write("<", tag)
	if class != "" {
		p.write(` class="`, class, `"`)
	}
	for i := 0; i+1 < len(attrs); i += 2 {
		name, _ := attrs[i].(string)
		p.write(" ", name, `="`)
		if f, number := attrs[i+1].(float64); number {
			var digits [maxDigits]byte
			p.b.Write(appendNum(digits[:0], f))
		} else if value, ok := attrs[i+1].(string); ok {
			p.b.WriteString(html.EscapeString(value))
		}
		p.b.WriteByte('"')
	}
}

// write writes texts without escaping them.
func (p *pen) write(texts ...string) {
	for _, text := range texts {
		p.b.WriteString(text)
	}
}

// begin opens a group with a title, or a link with the title if href is a safe URL. It returns the tag that the caller must pass to the
// method end.
func (p *pen) begin(href, class, title string, attrs ...any) string {
	tag := "g"
	if to := link(href); to != "" {
		p.links, tag = true, "a"
		attrs = append(attrs, "href", to)
	}
	p.open(tag, class, attrs...)
	p.title(title)
	return tag
}

func (p *pen) title(text string) {
	p.write("<title>", html.EscapeString(clean(text)), "</title>\n")
}

// The formats in which the script of the pages shows moments in the browser's time zone.
const (
	formSecond    = "second"     // 15:04:05
	formHour      = "hour"       // 15:04, or 2 Jan at midnight
	formDayMinute = "day minute" // 2 Jan 15:04
)

// moment writes a time in UTC, which the script replaces by the time in the browser's zone, in the given form. If form is empty, the text
// is not replaced.
func (p *pen) moment(x, y float64, class, text string, room float64, at time.Time, form string) {
	if form == "" {
		p.text(x, y, class, text, room)
		return
	}
	p.text(x, y, class, text, room, "data-at", strconv.FormatInt(at.UnixMilli(), 10), "data-form", form)
}

// text writes a text, cut to the given width in units, with further attributes. If the text is cut, its title contains the whole text.
func (p *pen) text(x, y float64, class, text string, room float64, attrs ...any) {
	whole := clean(text)
	short := cut(whole, room)
	p.tag("text", class, append([]any{"x", x, "y", y}, attrs...)...)
	p.b.WriteString(">")
	if short != whole {
		p.write("<title>", html.EscapeString(whole), "</title>")
	}
	p.write(html.EscapeString(short), "</text>\n")
}

// mark writes the marker of series or state i around a point. Each i, modulo colours, has a different shape.
func (p *pen) mark(i int, class string, x, y, r float64) {
	var d path
	switch i % colours {
	case 0:
		p.shape("circle", class, "cx", x, "cy", y, "r", r)
		return
	case 1:
		d.add("M", x, y-r*1.2).add("L", x+r*1.2, y+r).add("L", x-r*1.2, y+r)
	case 2:
		d.add("M", x-r, y-r).add("H", x+r).add("V", y+r).add("H", x-r)
	case 3:
		d.add("M", x, y-r*1.3).add("L", x+r*1.3, y).add("L", x, y+r*1.3).add("L", x-r*1.3, y)
	case 4:
		d.add("M", x, y+r*1.2).add("L", x+r*1.2, y-r).add("L", x-r*1.2, y-r)
	default:
		d.add("M", x-r, y-r/3).add("H", x-r/3).add("V", y-r).add("H", x+r/3).add("V", y-r/3).add("H", x+r).add("V", y+r/3).
			add("H", x+r/3).add("V", y+r).add("H", x-r/3).add("V", y+r/3).add("H", x-r)
	}
	p.shape("path", class, "d", d.add("Z").String())
}

// path builds the data of a path. It breaks lines so that people can read the file.
type path struct {
	b []byte
	n int
}

func (d *path) add(command string, at ...float64) *path {
	if d.b == nil {
		d.b = make([]byte, 0, 128)
	}
	if d.n++; d.n%16 == 0 {
		d.b = append(d.b, '\n')
	}
	d.b = append(d.b, command...)
	for i, v := range at {
		if i > 0 {
			d.b = append(d.b, ' ')
		}
		d.b = appendNum(d.b, v)
	}
	return d
}

func (d *path) String() string { return string(d.b) }

// maxDigits is the maximum number of bytes that appendNum appends.
const maxDigits = 10

// appendNum appends a coordinate, limited to ±1e6 and rounded to at most one decimal. It appends 0 for NaN.
func appendNum(to []byte, v float64) []byte {
	if math.IsNaN(v) {
		v = 0
	}
	tenths := int64(math.Round(max(-1e6, min(1e6, v)) * 10))
	if tenths < 0 {
		to, tenths = append(to, '-'), -tenths
	}
	to = strconv.AppendInt(to, tenths/10, 10)
	if rest := tenths % 10; rest > 0 {
		to = append(to, '.', byte('0'+rest))
	}
	return to
}

// clean returns a text as one line. It cuts the text after maxText characters, with an ellipsis, and replaces characters that are invisible
// or forbidden in XML.
func clean(text string) string {
	if len(text) <= maxText && !strings.ContainsFunc(text, unclean) {
		return strings.TrimSpace(text)
	}
	var b strings.Builder
	n := 0
	for _, c := range text {
		if n++; n > maxText {
			b.WriteRune('…')
			break
		}
		switch {
		case c == '\t' || c == '\n' || c == '\r':
			b.WriteByte(' ')
		case c == utf8.RuneError || c >= 0xFFFE && c <= 0xFFFF || callwright.Hidden(c):
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(c)
		}
	}
	return strings.TrimSpace(b.String())
}

// unclean reports whether clean may replace a character.
func unclean(c rune) bool { return c < ' ' || c > '~' }

// runeUnits returns an upper estimate of the width of a character, in units.
func runeUnits(c rune) float64 {
	switch {
	case c >= 0x1100 && c != '…':
		return 15.5
	case strings.ContainsRune(" .,:;'|!iljtfrI()[]/", c):
		return 5.5
	case strings.ContainsRune("mwMW@%", c):
		return 13.5
	default:
		return 9
	}
}

// units returns an upper estimate of the width of a text, in units.
func units(text string) float64 {
	var sum float64
	for _, c := range text {
		sum += runeUnits(c)
	}
	return sum
}

// cut shortens a text to the given width in units, with an ellipsis at its end.
func cut(text string, room float64) string {
	if units(text) <= room {
		return text
	}
	room -= runeUnits('…')
	for i, c := range text {
		if room -= runeUnits(c); room < 0 {
			return strings.TrimSpace(text[:i]) + "…"
		}
	}
	return text
}

// link returns a URL if it is safe as a link: relative, http or https, of at most 2,000 bytes, and without invisible characters. Otherwise
// it returns "".
func link(href string) string {
	const most = 2000
	if href == "" || len(href) > most || strings.ContainsFunc(href, callwright.Hidden) || !utf8.ValidString(href) {
		return ""
	}
	u, err := url.Parse(href)
	if err != nil || !slices.Contains([]string{"", "http", "https"}, u.Scheme) {
		return ""
	}
	return u.String()
}

// colour returns the CSS class of series i.
func colour(i int) string { return "c" + strconv.Itoa(i%colours+1) }

// list returns the first maxSaid items, and a sentence with the number of the others if there are more.
func list(items []string) []string {
	if len(items) <= maxSaid {
		return items
	}
	return append(slices.Clone(items[:maxSaid]), fmt.Sprintf("And %d more.", len(items)-maxSaid))
}

// counted returns a number followed by a noun, with an s unless the number is 1.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

// inWords formats a duration in the largest unit of which it is a whole multiple.
func inWords(d time.Duration) string {
	for _, unit := range []struct {
		span time.Duration
		name string
	}{{day * time.Second, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		if d >= unit.span && d%unit.span == 0 {
			return counted(int(d/unit.span), unit.name)
		}
	}
	return d.String()
}

// distinct returns the number of different ids.
func distinct[T any](all []T, id func(T) string) int {
	ids := map[string]bool{}
	for _, thing := range all {
		ids[id(thing)] = true
	}
	return len(ids)
}

// leftOut appends a sentence if the picture shows fewer than n things. most is the number of things that the picture shows, and thing is a
// singular noun.
func leftOut(said []string, thing string, n, most int) []string {
	if n > most {
		said = append(said, fmt.Sprintf("Not drawn: %d of %s.", n-most, counted(n, thing)))
	}
	return said
}

// head returns the beginning of a list, up to the given number of elements.
func head[T any](all []T, most int) []T { return all[:min(len(all), most)] }

// rect is a rectangle, for example the area of a label.
type rect struct{ x, y, w, h float64 }

// placer prevents labels from overlapping.
type placer struct{ taken []rect }

// reserve reserves an area, and reports whether the area was free. It reserves nothing if the area overlaps another.
func (p *placer) reserve(r rect) bool {
	for _, t := range p.taken {
		if r.x < t.x+t.w && t.x < r.x+r.w && r.y < t.y+t.h && t.y < r.y+r.h {
			return false
		}
	}
	p.taken = append(p.taken, r)
	return true
}
