package page

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/callwright/callwright"
)

//go:embed templates/*.html
var own embed.FS

// templates contains the parsed pages of each area and of this package, by name.
type templates struct {
	areas map[*Area]map[string]*template.Template
	own   map[string]*template.Template
	nav   []*Area
}

// parse parses the package's own templates and those of all areas, so that a syntax error is found when the dashboard is created.
func parse(c Config) (*templates, error) {
	t := &templates{areas: map[*Area]map[string]*template.Template{}}
	layout, err := template.New("layout").Funcs(funcs(c.Prefix)).ParseFS(own, "templates/_*.html")
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(own, "templates")
	if err != nil {
		return nil, err
	}
	if t.own, err = parsePages(layout, &Area{Templates: files}); err != nil {
		return nil, err
	}
	for i := range c.Areas {
		area := &c.Areas[i]
		if t.areas[area], err = parsePages(layout, area); err != nil {
			return nil, fmt.Errorf("dashboard: the pages of %s: %w", area.Path, err)
		}
		if area.Title != "" {
			t.nav = append(t.nav, area)
		}
	}
	return t, nil
}

// parsePages parses each page of an area together with the layout and the shared templates.
func parsePages(layout *template.Template, area *Area) (map[string]*template.Template, error) {
	parts, err := layout.Clone()
	if err != nil {
		return nil, err
	}
	parts.Funcs(area.Funcs)
	names, err := fs.Glob(area.Templates, "*.html")
	if err != nil {
		return nil, err
	}
	for _, files := range area.shared {
		if _, err := parts.ParseFS(files, "_*.html"); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		if strings.HasPrefix(name, "_") && parts.Lookup(name) == nil {
			if _, err := parts.ParseFS(area.Templates, name); err != nil {
				return nil, err
			}
		}
	}
	pages := map[string]*template.Template{}
	for _, name := range names {
		if strings.HasPrefix(name, "_") {
			continue
		}
		page, err := parts.Clone()
		if err == nil {
			page, err = page.ParseFS(area.Templates, name)
		}
		if err != nil {
			return nil, err
		}
		pages[strings.TrimSuffix(path.Base(name), ".html")] = page
	}
	return pages, nil
}

// frame contains the data of the layout that surrounds a page.
type frame struct {
	Title  string
	Nav    []*Area
	Area   *Area
	Notice string
	Who    string // name or id of the user's key; empty if not signed in
	Out    bool   // the user can sign out
	Live   bool
	Faulty bool   // the page shows a refused form
	Zone   string // name of the cookie in which the script stores the time zone
	Static static
	Data   any
}

// find returns the template of a view. It returns an error if the area has no such template.
func (s *Site) find(r *Request, v *View) (*template.Template, error) {
	pages := s.themes.own
	if r.area != nil && r.area.Path != "" {
		pages = s.themes.areas[r.area]
	}
	if t, ok := pages[v.Page]; ok {
		return t, nil
	}
	return nil, fmt.Errorf("dashboard: there is no template %q", v.Page)
}

func (v *View) answer(s *Site, w http.ResponseWriter, r *Request) error {
	t, err := s.find(r, v)
	if err != nil {
		return err
	}
	f := frame{Title: v.Title, Area: r.area, Notice: s.popNotice(w, r), Live: len(v.Live) > 0, Faulty: v.Status == http.StatusUnprocessableEntity && r.Method == http.MethodPost, Zone: s.zoneCookie(), Static: statics, Data: v.Data}
	if r.Principal.Org != "" {
		f.Nav, f.Who, f.Out = r.entitled(s.themes.nav), callwright.Clip(r.Principal.KeyName, 60), s.cfg.Sessions != nil
		if f.Who == "" {
			f.Who = r.Principal.KeyID
		}
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, "layout", f); err != nil {
		return err
	}
	status := v.Status
	if status == 0 {
		status = http.StatusOK
	}
	send(w, r, status, r.fill(b.Bytes()))
	return nil
}

// entitled returns the areas that require no entitlement or an entitlement that the principal has.
func (r *Request) entitled(all []*Area) []*Area {
	return slices.DeleteFunc(slices.Clone(all), func(a *Area) bool { return a.Entitlement != "" && !r.Principal.Entitled(a.Entitlement) })
}

// fill replaces tokenMark in a rendered page by a CSRF token of this browser.
func (r *Request) fill(page []byte) []byte {
	if !bytes.Contains(page, []byte(tokenMark)) {
		return page
	}
	return bytes.ReplaceAll(page, []byte(tokenMark), []byte(r.newToken()))
}

var compressors = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // cannot fail, because the level is valid
	return z
}}

// send sends a page, compressed if the browser accepts gzip.
func send(w http.ResponseWriter, r *Request, status int, page []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "private, no-store")
	h.Add("Vary", "Accept, Accept-Encoding, Cookie")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		var b bytes.Buffer
		z := compressors.Get().(*gzip.Writer) //nolint:forcetypeassert // nothing else is put there
		z.Reset(&b)
		_, _ = z.Write(page) // cannot fail, because b is in memory
		_ = z.Close()
		compressors.Put(z)
		h.Set("Content-Encoding", "gzip")
		page = b.Bytes()
	}
	h.Set("Content-Length", strconv.Itoa(len(page)))
	w.WriteHeader(status)
	_, _ = w.Write(page) // fails only if the browser has disconnected
}
