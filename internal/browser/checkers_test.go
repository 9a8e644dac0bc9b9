package browser_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/browser"
)

const (
	// clean is a page without violations and faults.
	clean = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Calls</title></head>
<body><main><h1>Calls</h1><p>None yet.</p></main></body>
</html>
`

	// faulty is a page with two accessibility violations inside main, one outside, and markup faults in lines 5 and 6.
	faulty = `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Calls</title></head>
<body><main><h1>Calls</h1>
<img src="x.png">
<p id="twice">One</p><p id="twice"><input type="text"></p>
</main><div><button type="button"></button></div></body>
</html>
`
)

func TestAxe(t *testing.T) {
	t.Parallel()
	p := browser.Open(t, true)
	for _, c := range []struct {
		name, html, root string
		want             []string
	}{
		{"clean", clean, "html", nil},
		{"faulty", faulty, "html", []string{"button-name", "image-alt", "label"}},
		{"part", faulty, "main", []string{"image-alt", "label"}},
	} {
		p.Go(t, serve(t, c.html, ""))
		var rules []string
		for _, v := range p.Axe(t, c.root) {
			rules = append(rules, v.Rule)
			if v.Impact == "" || v.Help == "" || len(v.Nodes) == 0 || !strings.HasPrefix(v.Nodes[0], "<") {
				t.Errorf("%s: a violation lacks something: %v", c.name, v)
			}
		}
		slices.Sort(rules)
		if !slices.Equal(rules, c.want) {
			t.Errorf("%s: violations of %q, want %q", c.name, rules, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	var got []string
	for _, f := range browser.Validate(t, map[string]string{"clean": clean, "faulty": faulty}) {
		got = append(got, f.String())
	}
	want := []string{"faulty:5:", "faulty:6:", "(no-dup-id)"}
	for _, part := range want {
		if !slices.ContainsFunc(got, func(f string) bool { return strings.Contains(f, part) }) {
			t.Errorf("no fault has %q in %q", part, got)
		}
	}
	for _, f := range got {
		if !strings.HasPrefix(f, "faulty:") {
			t.Errorf("a fault in the clean page: %s", f)
		}
	}
}
