package dashboard_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/triagestore"
	"github.com/callwright/callwright/transport/dashboard"
	"github.com/callwright/callwright/triage"
)

// The example shows the issues of an organization to the users of the embedding program.
func Example() {
	store := memstore.New()
	issues, err := triage.New(triage.Config{Store: triagestore.Store{Store: store}, Atomic: store, Work: memstore.NewWork(store, nil)})
	if err != nil {
		panic(err)
	}
	defer issues.Close()
	pages, err := dashboard.New(dashboard.Config{Authenticator: colleague{}, Prefix: "/ops", Issues: issues})
	if err != nil {
		panic(err)
	}
	answer := httptest.NewRecorder()
	pages.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/ops/issues", nil)) //nolint:noctx // an example
	fmt.Println(answer.Code, strings.Contains(answer.Body.String(), "/ops/issues"), strings.Contains(answer.Body.String(), "/ops/calls"))
	// Output: 200 true false
}

// colleague is an Authenticator that identifies every request as the organization acme.
type colleague struct{}

func (colleague) Authenticate(*http.Request) (callwright.Principal, error) {
	return callwright.Principal{Org: "acme", KeyID: "k1"}, nil
}
