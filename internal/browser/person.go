package browser

import (
	"encoding/json"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/callwright/callwright/internal/await"
)

// ClickText waits for a link, button or summary with this text, clicks it, and waits until another page has loaded.
func (p *Page) ClickText(t testing.TB, text string) {
	t.Helper()
	p.attempt(t, "clicking at "+text, `((text) => {
		const shown = [...document.querySelectorAll("a, button, summary")].find((e) =>
			e.innerText?.trim() === text && e.checkVisibility() && !e.disabled);
		if (document.readyState !== "complete" || !shown) return false;
		document.documentElement.dataset.left = location.href;
		shown.click();
		return true;
	})`, text)
	p.attempt(t, "the page after "+text, `(() => document.readyState === "complete" && document.documentElement.dataset.left !== location.href)`)
}

// Fill waits for the field with this label. It replaces the field's text, or in a list chooses the option with this text.
func (p *Page) Fill(t testing.TB, label, value string) {
	t.Helper()
	p.attempt(t, "the field "+label, `((label) => {
		const field = [...document.querySelectorAll("label")].find((l) => l.innerText.trim() === label && l.checkVisibility())?.control;
		if (document.readyState !== "complete" || !field) return false;
		for (const other of document.querySelectorAll("[data-filled]")) delete other.dataset.filled;
		field.dataset.filled = "";
		if (field.tagName !== "SELECT") field.value = "";
		return true;
	})`, label)
	if Eval[bool](t, p, `document.querySelector("select[data-filled]") === null`) {
		p.Type(t, "[data-filled]", value)
		return
	}
	p.attempt(t, "the option "+value, `((value) => {
		const list = document.querySelector("select[data-filled]");
		const option = [...list.options].find((o) => o.text === value && !o.disabled);
		if (!option) return false;
		list.value = option.value;
		for (const kind of ["input", "change"]) list.dispatchEvent(new Event(kind, {bubbles: true}));
		return true;
	})`, value)
}

// AwaitText waits until the page shows a text.
func (p *Page) AwaitText(t testing.TB, text string) {
	t.Helper()
	p.attempt(t, "the text "+text, `((text) => document.body?.innerText.includes(text) === true)`, text)
}

// attempt calls a JavaScript function until it returns true. It retries after errors, because every call fails while another page loads.
func (p *Page) attempt(t testing.TB, what, function string, arguments ...string) {
	t.Helper()
	if arguments == nil {
		arguments = []string{}
	}
	list, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	await.That(t, what, func() bool {
		done, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](function+`(...`+string(list)+`)`))
		return err == nil && done
	})
}
