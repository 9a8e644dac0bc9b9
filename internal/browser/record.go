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

// most limits the stored errors and the stored dialogs of a tab, because a page may open dialogs endlessly.
const most = 100

// record holds the errors and dialogs of a tab.
type record struct {
	mu              sync.Mutex
	errors, dialogs []string
	accept          bool
}

// note records an event if it is an error or a dialog, and closes the dialog in another goroutine. note itself must not send a command:
// chromedp calls it while reading the messages of the tab.
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

// describe joins the arguments of a console call with spaces.
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

// addDialog records a dialog, and reports whether to accept it.
func (r *record) addDialog(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.dialogs) < most {
		r.dialogs = append(r.dialogs, text)
	}
	return r.accept
}

// close closes a dialog, because an open dialog blocks every action in the tab.
func (r *record) close(tab context.Context, accept bool) {
	_, err := chromedp.Run(tab, func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: accept})
		return chromedp.Void{}, err
	})
	if err != nil && tab.Err() == nil {
		r.addError("closing a dialog: " + err.Error())
	}
}

// Errors returns at most 100 errors since the tab was opened: console errors, uncaught exceptions, violations of the content security
// policy, and resources that failed to load. Each begins with its source, such as "console", "exception", "security" or "network".
func (p *Page) Errors(t testing.TB) []string {
	t.Helper()
	p.waitIdle(t)
	p.seen.mu.Lock()
	defer p.seen.mu.Unlock()
	return slices.Clone(p.seen.errors)
}

// Dialogs returns at most 100 dialogs since the tab was opened, such as "alert: Hello".
func (p *Page) Dialogs(t testing.TB) []string {
	t.Helper()
	p.waitIdle(t)
	p.seen.mu.Lock()
	defer p.seen.mu.Unlock()
	return slices.Clone(p.seen.dialogs)
}

// waitIdle waits for the events that the tab has already sent. They arrive before the result of a later command.
func (p *Page) waitIdle(t testing.TB) {
	t.Helper()
	Eval[int](t, p, "1")
}

// AcceptDialogs sets whether later dialogs are accepted. By default they are dismissed.
func (p *Page) AcceptDialogs(accept bool) {
	p.seen.mu.Lock()
	defer p.seen.mu.Unlock()
	p.seen.accept = accept
}
