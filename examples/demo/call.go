package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-faster/jx"

	"github.com/callwright/callwright/transport/oas/agenttestoas"
	"github.com/callwright/callwright/transport/oas/callsoas"
	"github.com/callwright/callwright/transport/oas/pathwaysoas"
	"github.com/callwright/callwright/transport/oas/sipoas"
)

// clients holds an API client for each area that the demo uses, and the URL and key for other requests.
type clients struct {
	trunks   *sipoas.Client
	pathways *pathwaysoas.Client
	calls    *callsoas.Client
	tests    *agenttestoas.Client

	url string // base URL of the API
	key key
}

// connect waits until the server is ready, and creates clients that use the server's first API key.
func connect(ctx context.Context, server *program, data string) (api clients, err error) {
	if _, err := server.line(ctx, "callwright is ready"); err != nil {
		return api, err
	}
	var where struct {
		APIURL     string `json:"api_url"`
		APIKeyFile string `json:"api_key_file"`
	}
	text, err := waitForFile(ctx, filepath.Join(data, "server.json"))
	if err != nil {
		return api, err
	}
	if err := json.Unmarshal(text, &where); err != nil {
		return api, err
	}
	secret, err := os.ReadFile(where.APIKeyFile)
	if err != nil {
		return api, err
	}
	key := key(strings.TrimSpace(string(secret)))
	api.url, api.key = where.APIURL, key
	if api.trunks, err = sipoas.NewClient(where.APIURL, key); err != nil {
		return api, err
	}
	if api.pathways, err = pathwaysoas.NewClient(where.APIURL, key); err != nil {
		return api, err
	}
	if api.tests, err = agenttestoas.NewClient(where.APIURL, key); err != nil {
		return api, err
	}
	api.calls, err = callsoas.NewClient(where.APIURL, key)
	return api, err
}

func waitForFile(ctx context.Context, path string) ([]byte, error) {
	for {
		text, err := os.ReadFile(path)
		if err == nil || !errors.Is(err, os.ErrNotExist) {
			return text, err
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// pause waits for d, or returns the error of ctx if ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// key is an API key. It implements the security source of the generated clients.
type key string

// ApiKey sets the Authorization header, as the contract requires.
func (k key) ApiKey(_ context.Context, _ string, r *http.Request) error {
	r.Header.Set("Authorization", "Bearer "+string(k))
	return nil
}

// drawn is the pathway that the agent follows. Without a model, the phrases in its labels decide. A model (see the server's --llm-base-url)
// reads them as ordinary labels.
//
//go:embed pathway.json
var drawn []byte

// publish creates the pathway and publishes its first version.
func publish(ctx context.Context, api *pathwaysoas.Client) (id string, err error) {
	var graph struct {
		Nodes []pathwaysoas.PathwayNode `json:"nodes"`
		Edges []pathwaysoas.PathwayEdge `json:"edges"`
	}
	if err := json.Unmarshal(drawn, &graph); err != nil {
		return "", err
	}
	created, err := api.CreatePathway(ctx, &pathwaysoas.PathwayCreate{Name: "Bicycle repair"})
	if err != nil {
		return "", err
	}
	version, err := api.CreatePathwayVersion(ctx, &pathwaysoas.PathwayVersionCreate{
		Name: "The first", Nodes: graph.Nodes, Edges: graph.Edges,
	}, pathwaysoas.CreatePathwayVersionParams{ID: created.PathwayID})
	if err != nil {
		return "", err
	}
	published, err := api.PublishPathway(ctx, &pathwaysoas.PathwayPublish{VersionID: version.Data.VersionNumber},
		pathwaysoas.PublishPathwayParams{ID: created.PathwayID})
	if err != nil {
		return "", err
	}
	fmt.Println("made a pathway:", published.Message)
	return created.PathwayID, nil
}

// placeCall calls the demo's phone, and waits until the call has ended.
func placeCall(ctx context.Context, api *callsoas.Client, pathway string) (*callsoas.CallRecord, error) {
	fmt.Printf("calling %s\n", phoneNumber)
	return call(ctx, api, pathwayCall(pathway))
}

// pathwayCall returns the request for a call that follows a pathway.
func pathwayCall(pathway string) *callsoas.CallCreate {
	return &callsoas.CallCreate{
		PhoneNumber: phoneNumber, From: callsoas.NewOptString(ourNumber), PathwayID: callsoas.NewOptString(pathway),
		RequestData: callsoas.NewOptRequestData(callsoas.RequestData{"name": jx.Raw(`"Robin"`)}), Record: callsoas.NewOptBool(true),
	}
}

// call starts a call, polls it until it has ended, and returns its record.
func call(ctx context.Context, api *callsoas.Client, request *callsoas.CallCreate) (*callsoas.CallRecord, error) {
	created, err := api.CreateCall(ctx, request, callsoas.CreateCallParams{})
	if err != nil {
		return nil, err
	}
	for {
		record, err := api.GetCall(ctx, callsoas.GetCallParams{CallID: created.CallID})
		if err != nil || record.Completed {
			return record, err
		}
		if err := pause(ctx, time.Second/2); err != nil {
			return nil, err
		}
	}
}

// writeRecording writes the recording of a call to a file.
func writeRecording(ctx context.Context, api *callsoas.Client, id, path string) error {
	answer, err := api.GetRecording(ctx, callsoas.GetRecordingParams{CallID: id})
	if err != nil {
		return err
	}
	recording, ok := answer.(*callsoas.GetRecordingOKRawAudioWav)
	if !ok {
		return fmt.Errorf("the recording came as %T", answer)
	}
	defer recording.Response.Body.Close()
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	size, copyErr := io.Copy(f, recording.Response.Body)
	fmt.Printf("the recording (%d bytes; caller on the left, agent on the right): %s\n", size, path)
	return errors.Join(copyErr, f.Close())
}
