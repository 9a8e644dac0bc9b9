package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
	"github.com/callwright/callwright/transport/oas/callsoas"
)

// seeding limits the time for filling the server.
const seeding = 10 * time.Minute

// These constants are the numbers of calls with the pathway and with the agent, and the maximum number of concurrent calls.
const (
	pathwayCalls = 4
	agentCalls   = 16
	callsAtOnce  = 4
)

// parcels is the phone number of the trunk to the softphone that waits for a parcel.
const parcels = "+12025550103"

// parcelTask is the agent's task about parcels, as rules that the scripted model follows.
const parcelTask = `when "not yet": say "I am sorry. It comes tomorrow. Goodbye." and end
when "yes" or "it did": say "I am glad to hear it. Goodbye." and end`

// serve starts and fills a server. The server and its phones then run until ctx ends.
func serve(ctx context.Context, o options, work string) error {
	limited, cancel := context.WithTimeout(ctx, seeding)
	defer cancel()
	data := filepath.Join(work, "data")
	running := context.WithoutCancel(ctx) // deferred calls stop the programs one after the other
	server, api, err := begin(running, work, data, orDefault(o.Addr, "127.0.0.1:8080"), orDefault(o.SIPAddr, "127.0.0.1:5061"),
		"--simulated-carrier", "1s,24h,168h")
	if err != nil {
		return err
	}
	defer server.stop()
	customer, bicycleShop, err := softphone(running, work, data, "customer", bicycles...)
	if err != nil {
		return err
	}
	defer customer.stop()
	waiting, parcelService, err := softphone(running, work, data, "waiting", "--say", "not yet")
	if err != nil {
		return err
	}
	defer waiting.stop()
	if err := errors.Join(attach(limited, api.trunks, ourNumber, bicycleShop), attach(limited, api.trunks, parcels, parcelService)); err != nil {
		return err
	}
	if err := seed(limited, api); err != nil {
		if ctx.Err() != nil {
			return nil // ctx was interrupted
		}
		return err
	}
	fmt.Printf("\nThe server has a trunk, a pathway, an agent, %d calls, tests, an issue and a port in progress.\n"+
		"  Open   %s/\n  Key    %s\nCalls from %s and %s are answered by softphones. Interrupt (Ctrl-C) stops all and removes the data.\n",
		pathwayCalls+agentCalls, api.url, api.key, ourNumber, parcels)
	<-ctx.Done()
	return nil
}

func orDefault(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// seed fills the server with a pathway, an agent, calls, a passing and a failing test, the issue of the failing test, and a port.
func seed(ctx context.Context, api clients) error {
	pathway, err := publish(ctx, api.pathways)
	if err != nil {
		return err
	}
	var made struct {
		Agent struct {
			ID string `json:"agent_id"`
		} `json:"agent"`
	}
	if err := api.post(ctx, "/v1/agents", map[string]any{
		"prompt": parcelTask, "first_sentence": "Hello, did your parcel arrive?", "metadata": map[string]string{"name": "Parcels"},
	}, &made); err != nil {
		return err
	}
	fmt.Printf("placing %d calls, %d at a time\n", pathwayCalls+agentCalls, callsAtOnce)
	tested, err := api.callAll(ctx, pathway, made.Agent.ID)
	if err != nil {
		return err
	}
	if err := testAgain(ctx, api.tests, tested, pathway); err != nil {
		return err
	}
	return errors.Join(api.failTest(ctx, pathway), api.portNumber(ctx))
}

// callAll places all calls and waits until they have ended. It returns the id of a call that used the pathway.
func (c clients) callAll(ctx context.Context, pathway, agent string) (tested string, err error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	turn := make(chan struct{}, callsAtOnce)
	for i := range pathwayCalls + agentCalls {
		wg.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			request := &callsoas.CallCreate{
				PhoneNumber: fmt.Sprintf("+120255501%02d", 10+i), From: callsoas.NewOptString(parcels), AgentID: callsoas.NewOptString(agent),
				Record: callsoas.NewOptBool(true),
			}
			led := i < pathwayCalls
			if led {
				request = pathwayCall(pathway)
			}
			record, failure := call(ctx, c.calls, request)
			if failure == nil && record.Status != callsoas.CallStatusCompleted {
				failure = fmt.Errorf("a call ended as %q: %s", record.Status, record.ErrorMessage.Value)
			}
			mu.Lock()
			defer mu.Unlock()
			if err = errors.Join(err, failure); failure == nil {
				fmt.Print(".")
				if led {
					tested = record.CallID
				}
			}
		})
	}
	wg.Wait()
	fmt.Println()
	return tested, err
}

// failTest runs a test that the pathway fails, so that the server opens an issue.
func (c clients) failTest(ctx context.Context, pathway string) error {
	var created struct {
		ID string `json:"id"`
	}
	if err := c.post(ctx, "/v1/agent-testing/scenarios", map[string]any{
		"pathway_id": pathway, "name": "Wants Wednesday", "scenario_type": "REPLAY",
		"input_messages": []map[string]string{{"role": "user", "content": "Do you open on a Wednesday?"}},
		"assertions":     []map[string]any{{"type": "STRING_CHECK", "name": "Offers Wednesday", "config": map[string]string{"value": "wednesday", "role": "assistant"}}},
	}, &created); err != nil {
		return err
	}
	begun, err := c.tests.StartTestRun(ctx, oas.OptTestRunStart{}, oas.StartTestRunParams{ID: created.ID})
	if err != nil {
		return err
	}
	run, err := ended(ctx, c.tests, begun.Data.RunID)
	if err != nil {
		return err
	}
	fmt.Printf("Another test, which is to fail: %s\n", run.Status)
	if run.Status != oas.TestRunStatusFAILED {
		return fmt.Errorf("the test that is to fail ended as %s: %s", run.Status, run.ErrorMessage.Value)
	}
	return nil
}

// letterHash matches the SHA-256 checksum of a letter in the page on which people sign it.
var letterHash = regexp.MustCompile(`[0-9a-f]{64}`)

// portNumber requests the port of a number and signs its letter of authorization. The simulated carrier then processes the request.
func (c clients) portNumber(ctx context.Context) error {
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	file, err := parts.CreateFormFile("file", "bill.pdf")
	if err != nil {
		return err
	}
	_, _ = file.Write([]byte("%PDF-1.4\n% a bill\n")) // writes to memory, so it cannot fail
	if err := parts.Close(); err != nil {
		return err
	}
	var bill struct {
		ID string `json:"document_sid"`
	}
	if err := c.send(ctx, "/v1/sip/port/document", parts.FormDataContentType(), &form, &bill); err != nil {
		return err
	}
	var port struct {
		URL string `json:"signature_url"`
	}
	if err := c.post(ctx, "/v1/sip/port/initiate", map[string]any{
		"phone_numbers": []string{"+14155550145"}, "documents": []string{bill.ID},
		"losing_carrier_information": map[string]any{
			"customer_type": "personal", "first_name": "Robin", "last_name": "Doe", "account_number": "88231", "pin": "4711",
			"authorized_representative_email": "robin@example.com",
			"address":                         map[string]string{"street": "1 Main Street", "city": "Oakland", "state": "CA", "zip": "94607", "country": "US"},
		},
	}, &port); err != nil {
		return err
	}
	page, err := c.fetch(ctx, http.MethodGet, port.URL, "", nil)
	if err != nil {
		return err
	}
	_, err = c.fetch(ctx, http.MethodPost, port.URL, "application/x-www-form-urlencoded", strings.NewReader(url.Values{
		"decision": {"sign"}, "signer_name": {"Robin Doe"}, "consent": {"yes"}, "authority": {"yes"}, "letter_sha256": {letterHash.FindString(string(page))},
	}.Encode()))
	return err
}

// post sends JSON to the API, and decodes the answer into *into. If the answer has a member "data", post decodes only this member.
func (c clients) post(ctx context.Context, path string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.send(ctx, path, "application/json", bytes.NewReader(text), into)
}

func (c clients) send(ctx context.Context, path, contentType string, body io.Reader, into any) error {
	text, err := c.fetch(ctx, http.MethodPost, c.url+path, contentType, body)
	if err != nil {
		return err
	}
	answer := struct {
		Data json.RawMessage `json:"data"`
	}{}
	if err := json.Unmarshal(text, &answer); err != nil {
		return err
	}
	if answer.Data != nil {
		text = answer.Data
	}
	return json.Unmarshal(text, into)
}

// fetch sends a request with the API key and returns the body of the answer. A status of 400 or higher is an error.
func (c clients) fetch(ctx context.Context, method, address, contentType string, body io.Reader) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+string(c.key))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %d %s", method, r.URL.Path, answer.StatusCode, text)
	}
	return text, err
}
