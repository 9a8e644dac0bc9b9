// Command embed-signin runs the whole platform inside a program with its own listener, mux and sign-in.
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/platform"
	"github.com/callwright/callwright/transport/httpapi"
)

// people authenticates requests by their cookie. A real program looks the cookie up in its sessions.
type people struct{}

// Authenticate returns the principal of a request to the API or the dashboard. It returns CodeAuthFailure if the request contains no valid
// cookie.
func (people) Authenticate(r *http.Request) (callwright.Principal, error) {
	cookie, err := r.Cookie("session")
	if err != nil || cookie.Value != "adas" {
		return callwright.Principal{}, callwright.Errorf(callwright.CodeAuthFailure, "sign in at /sign-in")
	}
	return callwright.Principal{Org: "acme", KeyID: "ada", KeyName: "Ada", Entitlements: []callwright.Entitlement{callwright.EntitlementSIP}}, nil
}

func main() {
	ctx := context.Background()
	data := must(os.MkdirTemp("", "embed-signin-"))
	defer func() { _ = os.RemoveAll(data) }()

	c := platform.Defaults()
	c.Data, c.SIPAddr, c.RTPPorts = data, "127.0.0.1:0", platform.PortRange{} // port 0 and the empty range mean any free port
	c.Addr, c.PublicURL, c.Authenticator = "", "https://acme.example", people{}
	c.Logger = slog.New(slog.DiscardHandler)
	p := must(platform.New(c))
	check(p.Start(ctx))
	must(p.Services().Access.CreateOrganization(ctx, "acme", "Acme", callwright.EntitlementSIP))

	mux := http.NewServeMux()
	mux.HandleFunc("GET /sign-in", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "adas", Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	})
	mux.Handle("/", p) // serves the API, the dashboard, the pages of letters and the probes
	server := httpapi.NewServer(http.NewCrossOriginProtection().Handler(mux))

	for _, path := range []string{"/sign-in", "/calls", "/v1/calls", "/healthz"} { // calls the handler directly; a real program listens
		for _, cookie := range []string{"", "session=adas"} {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, http.NoBody)
			r.Header.Set("Cookie", cookie)
			w := httptest.NewRecorder()
			server.Handler.ServeHTTP(w, r)
			fmt.Println(path, cookie, w.Code)
		}
	}
	check(p.Stop(ctx))
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
