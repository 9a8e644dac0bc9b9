package oas_test

import (
	"fmt"
	"net/url"

	"github.com/callwright/callwright/transport/oas"
	"github.com/callwright/callwright/transport/oas/webhooksoas"
)

// The server of an area finds the operation for a request.
func ExampleArea() {
	server, err := webhooksoas.Area(webhooksoas.UnimplementedHandler{}).Serve(oas.Core{})
	if err != nil {
		panic(err)
	}
	operation, ok := server.Find("GET", &url.URL{Path: "/v1/webhooks/paused"})
	fmt.Println(operation.ID, ok)
	// Output: listPausedWebhooks true
}
