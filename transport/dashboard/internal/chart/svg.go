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
	width     = 480.0 // units of most pictures, about 1.5 units a pixel on the narrowest screens
	lineUnits = 18.0  // height of a line of text
	maxText   = 300   // characters of a name or label, whole
	maxSaid   = 20    // items that a description lists
	maxID     = 100   // characters of an ID
	colours   = 6     // classes c1 to c6
)

// pen writes the body of a picture.
type pen struct {
	id    string
	links bool
	b     strings.Builder
}

// newPen returns a pen whose element ids begin with the id given, reduced to letters, digits, '-' and '_'.
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

// svg returns the whole picture. Pictures with links are groups, because the children of an image are hidden from screen readers.
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

// none returns a picture that says that there is nothing to draw.
func (p *pen) none(class, title, text string, h float64) template.HTML {
	p.text(width/2, h/2+5, "note mid", text, width)
	return p.svg(class, title, ViewBox{W: width, H: h}, []string{text})
}

// shape writes an empty element. Attributes are pairs of a name and a float64 or a safe string; class may be empty.
func (p *pen) shape(tag, class string, attrs ...any) {
	p.tag(tag, class, attrs...)
	p.b.WriteString("/>\n")
}

// open begins an element, which end closes.
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

// write writes texts as they are.
func (p *pen) write(texts ...string) {
	for _, text := range texts {
		p.b.WriteString(text)
	}
}

// begin opens a group with a title, or a link with it if the address can be one. It returns the tag to end.
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

// The forms in which the script of the pages shows moments in the browser's zone.
const (
	formSecond    = "second"     // 15:04:05
	formHour      = "hour"       // 15:04, at midnight 2 Jan
	formDayMinute = "day minute" // 2 Jan 15:04
)

// moment writes a time in UTC, which the script shows in the browser's zone in a form; without a form it stays.
func (p *pen) moment(x, y float64, class, text string, room float64, at time.Time, form string) {
	if form == "" {
		p.text(x, y, class, text, room)
		return
	}
	p.text(x, y, class, text, room, "data-at", strconv.FormatInt(at.UnixMilli(), 10), "data-form", form)
}

// text writes a text, cut to so many units, with further attributes. A cut text has the whole one as its title.
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

// mark writes the marker of series or state i, each of another shape, around a point.
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

// path builds the data of a path, in lines that a person can read.
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

// maxDigits is the most that appendNum appends.
const maxDigits = 10

// appendNum appends a coordinate within ±1e6, with one decimal unless that is 0.
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

// clean returns a text of at most maxText characters in one line, without characters that XML forbids or that are invisible.
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

// runeUnits estimates the width of a character, on the safe side.
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

// units estimates the width of a text.
func units(text string) float64 {
	var sum float64
	for _, c := range text {
		sum += runeUnits(c)
	}
	return sum
}

// cut shortens a text to so many units.
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

// link returns an address that is safe in a page, or "".
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

// colour returns the class of series i.
func colour(i int) string { return "c" + strconv.Itoa(i%colours+1) }

// list returns the first items as sentences, and the number of the others.
func list(items []string) []string {
	if len(items) <= maxSaid {
		return items
	}
	return append(slices.Clone(items[:maxSaid]), fmt.Sprintf("And %d more.", len(items)-maxSaid))
}

// counted returns a number of things, in the singular or in the plural with an s.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

// inWords returns a time span in the largest unit of which it is a whole number.
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

// leftOut adds a sentence if there were more things than a picture shows. thing is in the singular.
func leftOut(said []string, thing string, n, most int) []string {
	if n > most {
		said = append(said, fmt.Sprintf("Not drawn: %d of %s.", n-most, counted(n, thing)))
	}
	return said
}

// head returns the first elements of a list.
func head[T any](all []T, most int) []T { return all[:min(len(all), most)] }

// rect is an area that a label covers.
type rect struct{ x, y, w, h float64 }

// placer keeps labels from covering each other.
type placer struct{ taken []rect }

// reserve returns whether an area was free, and takes it.
func (p *placer) reserve(r rect) bool {
	for _, t := range p.taken {
		if r.x < t.x+t.w && t.x < r.x+r.w && r.y < t.y+t.h && t.y < r.y+r.h {
			return false
		}
	}
	p.taken = append(p.taken, r)
	return true
}
