package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/suite"
	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
)

// The variable of the environment that has the key of the API: see keyVariable.
const apiKeyVariable = "CALLWRIGHT_API_KEY"

const (
	defaultServer = "http://127.0.0.1:8080"
	askTime       = time.Minute // for one request
	listPage      = 100
	maxKeyFile    = 4 << 10 // bytes
)

func scenariosCommand(env func(string) string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "scenarios",
		Short: "Copy scenarios between files and a server",
		Long: "Copies scenarios between a server and files such as callwright test reads. The key of the API comes from the\n" +
			"environment, " + apiKeyVariable + ", or from the file that --key-file names.",
	}
	cmd.AddCommand(exportCommand(env), importCommand(env))
	return cmd
}

// remote is what a command needs to know of the server.
type remote struct {
	server  string
	keyFile string
	pathway string
	persona string
}

func (r *remote) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&r.server, "server", defaultServer, "the `address` of the server")
	flags.StringVar(&r.keyFile, "key-file", "", "a `file` with the key of the API, such as api-key in the server's data folder")
	flags.StringVar(&r.pathway, "pathway", "", "the `id` of the pathway that the scenarios test")
	flags.StringVar(&r.persona, "persona", "", "the `id` of the persona that they test, instead of --pathway")
}

// tested names what the scenarios test.
func (r *remote) tested() string {
	if r.persona != "" {
		return "persona " + r.persona
	}
	return "pathway " + r.pathway
}

// open checks the flags and returns a client of the server.
func (r *remote) open(env func(string) string) (*server, error) {
	if (r.pathway == "") == (r.persona == "") {
		return nil, errors.New("name what the scenarios test: --pathway ID or --persona ID")
	}
	u, err := url.Parse(r.server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("--server must be an address such as %s", defaultServer)
	}
	key := env(apiKeyVariable)
	if r.keyFile != "" {
		if key, err = readKey(r.keyFile); err != nil {
			return nil, err
		}
	}
	if key = strings.TrimSpace(key); key == "" {
		return nil, fmt.Errorf("there is no key of the API: set %s, or name its file with --key-file", apiKeyVariable)
	}
	client, err := oas.NewClient(strings.TrimRight(r.server, "/"), apiKey(key), oas.WithClient(&http.Client{Timeout: askTime}))
	if err != nil {
		return nil, err
	}
	return &server{client, *r}, nil
}

func readKey(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("--key-file: %w", err)
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	return string(raw), err
}

// apiKey authenticates requests.
type apiKey callwright.Secret

// ApiKey implements oas.SecuritySource.
func (k apiKey) ApiKey(_ context.Context, _ string, r *http.Request) error {
	r.Header.Set("Authorization", "Bearer "+callwright.Secret(k).Reveal())
	return nil
}

// server is a server with scenarios.
type server struct {
	client *oas.Client
	remote
}

// stored is a scenario on the server.
type stored struct {
	id      string
	name    string
	members []suite.Member
}

// list reads the scenarios of what is tested.
func (s *server) list(ctx context.Context) ([]stored, error) {
	var all []stored
	for {
		reply, err := s.client.ListTestScenarios(ctx, oas.ListTestScenariosParams{
			PathwayID: oas.OptString{Value: s.pathway, Set: s.pathway != ""}, PersonaID: oas.OptString{Value: s.persona, Set: s.persona != ""},
			Limit: oas.NewOptInt(listPage), Offset: oas.NewOptInt(len(all)),
		})
		if err != nil {
			return nil, s.explain(err)
		}
		if len(reply.Data) == 0 {
			return all, nil
		}
		for i := range reply.Data {
			one, err := membersOf(&reply.Data[i])
			if err != nil {
				return nil, fmt.Errorf("the scenario %q of the server cannot be read: %w", reply.Data[i].Name, err)
			}
			all = append(all, one)
		}
	}
}

// notInFiles are members of a record that files do not have.
var notInFiles = []string{"id", "org_id", "pathway_id", "persona_id", "created_at", "updated_at", "most_recent_run"}

// membersOf returns the members of a scenario as the server has it.
func membersOf(record *oas.TestScenario) (stored, error) {
	raw, err := record.MarshalJSON()
	if err != nil {
		return stored{}, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return stored{}, err
	}
	for _, name := range notInFiles {
		delete(members, name)
	}
	if raw, err = json.Marshal(members); err != nil {
		return stored{}, err
	}
	one, err := parseOne(raw)
	if err != nil {
		return stored{}, err
	}
	list, err := suite.Members(one)
	return stored{record.ID, record.Name, list}, err
}

func parseOne(raw []byte) (scenario.Scenario, error) {
	all, err := suite.Parse(raw)
	if err != nil {
		return scenario.Scenario{}, err
	}
	return all[0], nil
}

// create stores a new scenario.
func (s *server) create(ctx context.Context, members []suite.Member) error {
	given := map[string]any{}
	for _, m := range members {
		if !m.Unset {
			given[m.Name] = m.Value
		}
	}
	given["pathway_id"], given["persona_id"] = s.pathway, s.persona
	if s.persona == "" {
		delete(given, "persona_id")
	} else {
		delete(given, "pathway_id")
	}
	var body oas.TestScenarioCreate
	if err := decodeInto(given, &body); err != nil {
		return err
	}
	_, err := s.client.CreateTestScenario(ctx, &body)
	return s.explain(err)
}

// update replaces members of a scenario.
func (s *server) update(ctx context.Context, id string, changed []suite.Member) error {
	given := map[string]any{}
	for _, m := range changed {
		given[m.Name] = m.Value
	}
	var body oas.TestScenarioUpdate
	if err := decodeInto(given, &body); err != nil {
		return err
	}
	_, err := s.client.UpdateTestScenario(ctx, &body, oas.UpdateTestScenarioParams{ID: id})
	return s.explain(err)
}

func decodeInto(members map[string]any, body json.Unmarshaler) error {
	raw, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return body.UnmarshalJSON(raw)
}

// explain says what the server has refused, and what to do.
func (s *server) explain(err error) error {
	if err == nil {
		return nil
	}
	refused, ok := errors.AsType[*oas.ErrorStatusCodeWithHeaders](err)
	if !ok {
		if _, away := errors.AsType[*url.Error](err); away {
			return fmt.Errorf("there is no answer from %s: start the server, or name another with --server: %w", s.server, err)
		}
		return fmt.Errorf("%s does not answer as a Callwright server does: name another with --server: %w", s.server, err)
	}
	var lines []string
	for _, e := range refused.Response.Errors {
		lines = append(lines, e.Message)
	}
	text := strings.Join(lines, "; ")
	switch refused.StatusCode {
	case http.StatusUnauthorized:
		return fmt.Errorf("the server does not take the key: set %s, or name its file with --key-file", apiKeyVariable)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return fmt.Errorf("the server is busy (%s): try again later", text)
	default:
		return fmt.Errorf("the server has answered %d: %s", refused.StatusCode, text)
	}
}
