package browser_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/browser"
)

// form is a page with a script that changes the heading.
const form = `<!doctype html><title>t</title><h1 id="h">plain</h1>
<script>document.getElementById("h").textContent = "scripted"</script>
<form method="post"><input id="name" name="name"><input type="checkbox" id="yes" name="yes"><button id="send">Send</button></form>`

func TestPage(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.Method == http.MethodPost {
			_, _ = io.WriteString(w, `<p id="done">`+r.FormValue("name")+" "+r.FormValue("yes")+"</p>")
			return
		}
		_, _ = io.WriteString(w, form)
	}))
	defer server.Close()
	for heading, scripts := range map[string]bool{"plain": false, "scripted": true} {
		p := browser.Open(t, scripts)
		if status := p.Go(t, server.URL); status != http.StatusOK {
			t.Errorf("the status is %d", status)
		}
		if got := p.Text(t, "#h"); got != heading {
			t.Errorf("with scripts %t the heading is %q", scripts, got)
		}
		p.Type(t, "#name", "Robin Doe")
		p.Click(t, "#yes")
		p.Resize(t, 320, 640)
		p.Click(t, "#send")
		p.Await(t, "#done")
		if got := p.Text(t, "#done"); got != "Robin Doe on" {
			t.Errorf("the server received %q", got)
		}
		if picture := p.Screenshot(t); !strings.HasPrefix(string(picture), "\x89PNG") {
			t.Errorf("the picture has %d bytes", len(picture))
		}
	}
}
