package reference_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/callwright/callwright/transport/httpapi/reference"
)

// The served contract names the server's public URL.
func ExampleHandler() {
	answer := httptest.NewRecorder()
	reference.Handler("https://voice.example.com").ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/openapi.yaml", nil)) //nolint:noctx // an example
	fmt.Println(answer.Code, strings.Contains(answer.Body.String(), "https://voice.example.com"))
	// Output: 200 true
}
