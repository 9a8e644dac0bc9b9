package page_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/browser"
)

// TestScriptKeepsWhatIsTyped checks that a live update replaces no part in which the user has typed, and cancels no action that the user is
// about to confirm. Other parts must still change.
func TestScriptKeepsWhatIsTyped(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	p := browser.Open(t, true)
	p.Go(t, h.URL+"/login?next=/form")
	p.Type(t, "#key", goodKey)
	p.Click(t, "main button")
	p.Await(t, "#live-asked")
	shows := func(id string, number int) {
		t.Helper()
		await.That(t, fmt.Sprintf("%d in %s", number, id), func() bool {
			return strings.Contains(browser.Eval[string](t, p, `document.getElementById("`+id+`").textContent`), strconv.Itoa(number))
		})
	}
	h.number.Store(11)
	shows("live-asked", 11)
	p.Type(t, "#live-asked input[name=name]", "Robin")
	browser.Eval[any](t, p, `document.activeElement.blur()`)
	h.number.Store(22)
	shows("live-number", 22)
	if got := browser.Eval[string](t, p, `document.querySelector("#live-asked input[name=name]").value`); got != "Robin" {
		t.Errorf("what was typed is %q now", got)
	}
	browser.Eval[any](t, p, `(field => { field.focus(); field.value = ""; field.blur(); })(document.querySelector("#live-asked input[name=name]"))`)
	shows("live-asked", 22) // updated again, because the field is empty and has lost the focus
	p.Click(t, "#live-asked button")
	p.Await(t, "#ask[open]")
	h.number.Store(33)
	p.Click(t, "#ask [value=yes]")
	p.Await(t, ".notice[role=status]:not(#offline)")
	if n := h.saved.Load(); n != 1 {
		t.Errorf("the form was sent %d times", n)
	}
	if found := p.Errors(t); len(found) > 0 {
		t.Errorf("the browser reports %q", found)
	}
}

// TestScriptShowsLocalTimes checks that a browser in New York shows times and charts in its zone, with UTC in the tooltip.
func TestScriptShowsLocalTimes(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	p := browser.Open(t, true)
	p.Timezone(t, "America/New_York")
	p.Go(t, h.URL+"/login?next=/times")
	p.Type(t, "#key", goodKey)
	p.Click(t, "main button")
	p.Await(t, "main svg")
	for selector, want := range map[string]string{
		"time": "2026-03-01 22:00:05", "text[data-form]": "22:00:05", "g.row title": "2026-03-01 22:00:05 (03:00:05 UTC): Rang",
	} {
		if got := browser.Eval[string](t, p, `document.querySelector("main `+selector+`").textContent.trim()`); got != want {
			t.Errorf("%s shows %q, want %q", selector, got, want)
		}
	}
	if got := browser.Eval[string](t, p, `document.querySelector("main time").title`); got != "2026-03-02 03:00:05 UTC" {
		t.Errorf("the title of the time is %q", got)
	}
	if found := p.Errors(t); len(found) > 0 {
		t.Errorf("the browser reports %q", found)
	}
}

// TestScriptKeepsTheFocus checks that a live update replaces a part with a focused, empty field, and that the field keeps the focus.
func TestScriptKeepsTheFocus(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "")
	p := browser.Open(t, true)
	p.Go(t, h.URL+"/login?next=/form")
	p.Type(t, "#key", goodKey)
	p.Click(t, "main button")
	p.Await(t, "#live-asked")
	browser.Eval[any](t, p, `document.querySelector("#live-asked input[name=name]").focus()`)
	h.number.Store(44)
	await.That(t, "the part to be new", func() bool {
		return strings.Contains(browser.Eval[string](t, p, `document.getElementById("live-asked").textContent`), "44")
	})
	if !browser.Eval[bool](t, p, `document.activeElement.name === "name"`) {
		t.Error("the field has lost the focus")
	}
}
