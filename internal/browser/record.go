package browser

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// most bounds the stored errors, and the stored dialogs, of a tab: a page may open dialogs without end.
const most = 100

// record holds the errors of a tab.
type record struct {
	mu              sync.Mutex
	errors, dialogs []string
	accept          bool
}

// note records an event. chromedp calls it between the messages of the tab, so it sends no command itself.
func (r *record) note(tab context.Context, event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			r.addError("console: " + describe(e.Args))
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			text += " " + describe([]*runtime.RemoteObject{thrown})
		}
		r.addError("exception: " + text)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			r.addError(string(e.Entry.Source) + ": " + e.Entry.Text + " " + e.Entry.URL)
		}
	case *page.EventJavascriptDialogOpening:
		go r.close(tab, r.addDialog(string(e.Type)+": "+e.Message))
	}
}

// describe joins the arguments of a console's call.
func describe(arguments []*runtime.RemoteObject) string {
	var texts []string
	for _, a := range arguments {
		if a.Description != "" {
			texts = append(texts, a.Description)
		} else {
			texts = append(texts, string(a.Value))
		}
	}
	return strings.Join(texts, " ")
}

func (r *record) addError(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.errors) < most {
		r.errors = append(r.errors, text)
	}
}

// addDialog records a dialog and returns whether to accept it.
func (r *record) addDialog(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.dialogs) < most {
		r.dialogs = append(r.dialogs, text)
	}
	return r.accept
}

// close ends a dialog, without which every step in the tab would wait.
func (r *record) close(tab context.Context, accept bool) {
	_, err := chromedp.Run(tab, func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: accept})
		return chromedp.Void{}, err
	})
	if err != nil && tab.Err() == nil {
		r.addError("closing a dialog: " + err.Error())
	}
}

// Errors returns the errors of the tab since its start, at most 100: console errors, uncaught exceptions, violations of the content
// security policy, and resources that did not load. Each begins with its source, such as "console", "exception", "security" or "network".
func (p *Page) Errors(t testing.TB) []string {
	t.Helper()
	p.waitIdle(t)
	p.seen.mu.Lock()
	defer p.seen.mu.Unlock()
	return slices.Clone(p.seen.errors)
}

// Dialogs returns the dialogs that opened since the start of the tab, at most 100, such as "alert: Hello".
func (p *Page) Dialogs(t testing.TB) []string {
	t.Helper()
	p.waitIdle(t)
	p.seen.mu.Lock()
	defer p.seen.mu.Unlock()
	return slices.Clone(p.seen.dialogs)
}

// waitIdle waits for events that the tab has sent already. They arrive before the answer to a later command.
func (p *Page) waitIdle(t testing.TB) {
	t.Helper()
	Eval[int](t, p, "1")
}

// AcceptDialogs sets whether dialogs that open from now on are accepted. At the start they are refused.
func (p *Page) AcceptDialogs(accept bool) {
	p.seen.mu.Lock()
	defer p.seen.mu.Unlock()
	p.seen.accept = accept
}
