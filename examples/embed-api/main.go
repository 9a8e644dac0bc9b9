// Command embed-api serves only the HTTP operations of issues, together with its own page. It imports no other area of the contract.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/triageapi"
	"github.com/callwright/callwright/triage"
)

func main() {
	ctx, store := context.Background(), memstore.New()
	keys := must(access.New(access.Config{ // a program with a durable store must store the secret, too
		Store: orgstore.Tenants{Store: store}, Atomic: store, Secret: callwright.Secret(rand.Text() + rand.Text()),
	}))
	issues := must(triage.New(triage.Config{
		Store: triagestore.Store{Store: store}, Atomic: store, Work: memstore.NewWork(store, nil),
	}))
	defer issues.Close()
	api := must(httpapi.New(httpapi.Config{Access: keys, Areas: []httpapi.Area{triageapi.New(triageapi.Config{Issues: issues})}}))
	mux := http.NewServeMux()
	mux.Handle("/v1/", api)
	mux.HandleFunc("GET /about", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "Acme") })
	listener := must(new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"))
	server := httpapi.NewServer(mux)
	go func() { _ = server.Serve(httpapi.Connections{}.Limit(listener)) }() // returns after Close
	defer func() { _ = server.Close() }()
	org := must(keys.CreateOrganization(ctx, "acme", "Acme"))
	key := must(keys.CreateKey(ctx, org.ID, "ci", 0)).Key.Reveal()
	ask := func(method, path, body string) {
		r := must(http.NewRequestWithContext(ctx, method, "http://"+listener.Addr().String()+path, strings.NewReader(body)))
		r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			log.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		fmt.Println(method, path, answer.StatusCode)
	}
	ask("POST", "/v1/triage/issues", `{"title": "Agent books a closed day"}`)
	ask("GET", "/about", "")
	ask("GET", "/v1/calls", "")
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
