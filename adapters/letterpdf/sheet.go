package letterpdf

import (
	"fmt"
	"strings"
)

// The size and the margins of a page, US Letter, in points.
const (
	pageWidth  = 612
	pageHeight = 792
	left       = 64
	right      = pageWidth - left
	top        = 88  // upper end of the flowing text
	bottom     = 726 // lower end of the flowing text
	headY      = 52
	footY      = 752
)

// Shades of gray, from 0 (black) to 255 (white).
const (
	black     = 0
	dark      = 60
	gray      = 110
	lightGray = 200
	pale      = 244
)

// page is the content of a page. Its coordinates are whole points from the upper left corner.
type page struct {
	areas []area
	lines []line
	marks []text // bookmarks of the PDF
	texts []text
}

type (
	// text is one line of text. Its baseline begins at (x, y).
	text struct {
		style

		x, y int
		text string
	}
	// line is a horizontal line. width is its thickness.
	line struct{ x1, x2, y, width, shade int }
	// area is a filled rectangle. (x, y) is its upper left corner.
	area struct{ x, y, width, height, shade int }
)

// sheet writes texts below each other, on as many pages as necessary.
type sheet struct {
	fonts fonts
	head  string // the text at the top of each page but the first
	pages []page
	y     int // the used height of the last page
}

func newSheet(f fonts, head string) *sheet {
	s := &sheet{fonts: f, head: head}
	s.turn()
	return s
}

func (s *sheet) page() *page { return &s.pages[len(s.pages)-1] }

// turn begins a new page, and writes the head on each page but the first.
func (s *sheet) turn() {
	s.pages = append(s.pages, page{})
	s.y = top
	if len(s.pages) == 1 {
		s.y = headY
		return
	}
	small := style{regular, 9, gray}
	s.write(small, left, headY, s.fonts.fit(small, s.head, right-left))
	s.line(headY+10, 1, lightGray)
}

// need begins a new page unless the current page has room for a height.
func (s *sheet) need(height int) {
	if s.y+height > bottom {
		s.turn()
	}
}

// write adds one line of text whose baseline begins at (x, y). It ignores an empty text.
func (s *sheet) write(as style, x, y int, what string) {
	if what != "" {
		s.page().texts = append(s.page().texts, text{as, x, y, what})
	}
}

// line draws a horizontal line from the left to the right margin. width is its thickness.
func (s *sheet) line(y, width, shade int) {
	s.page().lines = append(s.page().lines, line{left, right, y, width, shade})
}

// heading writes a heading and a bookmark. It begins a new page unless the heading and the height below it fit on the current page.
func (s *sheet) heading(what string, below int) {
	s.need(38 + below)
	s.y += 26
	as := style{bold, 12, black}
	s.page().marks = append(s.page().marks, text{as, left, s.y, what})
	s.write(as, left, s.y, what)
	s.y += 12
}

// title writes a title, in as many lines as necessary, and a bookmark.
func (s *sheet) title(what string) {
	as := style{bold, 20, black}
	for i, row := range s.fonts.wrap(as, what, right-left) {
		if i == 0 {
			s.page().marks = append(s.page().marks, text{as, left, s.y + 18, what})
		}
		s.need(24)
		s.write(as, left, s.y+18, row)
		s.y += 24
	}
	s.line(s.y+6, 2, dark)
	s.y += 14
}

// fact writes a row of a table: a name and its value. Both may have several lines.
func (s *sheet) fact(name, value string, size int) {
	const valueX, gap = left + 150, 4
	names := s.fonts.wrap(style{regular, size, gray}, name, valueX-left-12)
	values := s.fonts.wrap(style{regular, size, black}, value, right-valueX)
	height := size + 4
	s.need(min(len(values), 3)*height + gap)
	s.y += gap
	for i := range max(len(names), len(values)) {
		s.need(height)
		if i < len(names) {
			s.write(style{regular, size, gray}, left, s.y+size, names[i])
		}
		if i < len(values) {
			s.write(style{regular, size, black}, valueX, s.y+size, values[i])
		}
		s.y += height
	}
	s.line(s.y+2, 1, 228)
}

// paragraph writes a paragraph. Its first two lines stay on the same page.
func (s *sheet) paragraph(what string, size int) {
	as, height := style{regular, size, dark}, size+5
	rows := s.fonts.wrap(as, what, right-left)
	s.need(min(len(rows), 2) * height)
	for _, row := range rows {
		s.need(height)
		s.write(as, left, s.y+size, row)
		s.y += height
	}
	s.y += 6
}

// columns writes texts row by row, in up to four columns, depending on the widest text. Its first parameter is the heading of the list on
// further pages.
func (s *sheet) columns(what string, all []string) {
	const most, height = 4, 17
	as, widest := style{regular, 11, black}, 1
	for _, one := range all {
		widest = max(widest, s.fonts.width(as, one))
	}
	count := min(most, max(1, (right-left)/(widest+24)))
	step := (right - left) / count
	for i, one := range all {
		if i%count == 0 {
			if before := len(s.pages); i > 0 {
				if s.need(height); len(s.pages) > before {
					s.write(style{bold, 10, gray}, left, s.y, what+", continued")
					s.y += 6
				}
			}
			s.y += height
		}
		s.write(as, left+i%count*step, s.y-4, s.fonts.fit(as, one, step-12))
	}
	s.y += 4
}

// writeFooters writes the footer of every page: the given text and the page number. It returns the pages.
func (s *sheet) writeFooters(what string) []page {
	as := style{regular, 8, gray}
	for i := range s.pages {
		number := fmt.Sprintf("Page %d of %d", i+1, len(s.pages))
		x := right - s.fonts.width(as, number)
		g := &s.pages[i]
		g.lines = append(g.lines, line{left, right, footY - 14, 1, lightGray})
		g.texts = append(g.texts, text{as, left, footY, s.fonts.fit(as, what, x-left-24)}, text{as, x, footY, number})
	}
	return s.pages
}

// fit returns a text as one line that is at most width points wide. An ellipsis replaces the part that does not fit.
func (f fonts) fit(as style, what string, width int) string {
	what = strings.ReplaceAll(what, "\n", " ")
	if f.width(as, what) <= width {
		return what
	}
	runes := []rune(what)
	for len(runes) > 0 && f.width(as, string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return strings.TrimRight(string(runes), " ") + "…"
}

// wrap returns a text as lines that are at most width points wide. It divides words that are wider than a line.
func (f fonts) wrap(as style, what string, width int) (rows []string) {
	for part := range strings.SplitSeq(what, "\n") {
		row := ""
		for word := range strings.FieldsSeq(part) {
			if longer := strings.TrimLeft(row+" "+word, " "); f.width(as, longer) <= width {
				row = longer
				continue
			}
			if row != "" {
				rows = append(rows, row)
			}
			for row = word; f.width(as, row) > width; {
				head := f.head(as, row, width)
				rows, row = append(rows, head), row[len(head):]
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// head returns the first characters of a word that fit into width, and at least one.
func (f fonts) head(as style, word string, width int) string {
	end := 0
	for i, c := range word {
		if next := i + len(string(c)); i == 0 || f.width(as, word[:next]) <= width {
			end = next
			continue
		}
		break
	}
	return word[:end]
}
