package speechapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/adapters/memstore/orgstore"
	"github.com/callwright/callwright/adapters/memstore/speechstore"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/tts"
	"github.com/callwright/callwright/transport/httpapi"
	"github.com/callwright/callwright/transport/httpapi/speechapi"
)

// A program serves only the area of speech.
func Example() {
	store := memstore.New()
	service, err := speech.New(speech.Config{
		Engine: engine{}, Voices: speechstore.Voices{Store: store}, Samples: speechstore.Samples{Store: store}, Blobs: struct{ speech.Blobs }{},
		Atomic: store, Work: memstore.NewWork(store, nil), Key: callwright.Secret(strings.Repeat("k", 32)),
	})
	if err != nil {
		panic(err)
	}
	api, err := httpapi.New(httpapi.Config{
		Access: anybody{}, Atomic: store, Idempotency: orgstore.IdempotencyStore{Store: store}, Areas: []httpapi.Area{speechapi.New(speechapi.Config{Speech: service, URL: "https://voice.example.com"})},
	})
	if err != nil {
		panic(err)
	}
	answer, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/v1/voices", nil) //nolint:noctx // an example
	api.ServeHTTP(answer, request)
	fmt.Println(answer.Code, strings.Contains(answer.Body.String(), `"name":"Ann"`))
	// Output: 200 true
}

// anybody authenticates every request as the organization acme.
type anybody struct{}

func (anybody) Authenticate(*http.Request) (callwright.Principal, error) {
	return callwright.Principal{Org: "acme", KeyID: "k1"}, nil
}

// engine lists one voice. The example never uses it for synthesis.
type engine struct{ tts.Engine }

func (engine) Describe() tts.Description {
	return tts.Description{Name: "engine", Voices: []tts.Voice{{Name: "Ann"}}, Default: "Ann"}
}
