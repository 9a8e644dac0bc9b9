package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/suite"
	oas "github.com/callwright/callwright/transport/oas/agenttestoas"
)

const listPage = 100

func scenariosCommand(c Config, env func(string) string) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:         "scenarios",
		Short:       "Copy scenarios between files and a server",
		Long:        "Copies scenarios between a server and files such as callwright test reads. Exit codes: 0 done; 3 not done, or not all.",
		Annotations: map[string]string{ownCodes: "true"},
	})
	cmd.AddCommand(exportCommand(c, env), importCommand(c, env))
	return cmd
}

// remote contains the flags that select the tested agent on a server.
type remote struct {
	pathway string
	persona string
}

func (r *remote) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&r.pathway, "pathway", "", "the `id` of the pathway that the scenarios test")
	flags.StringVar(&r.persona, "persona", "", "the `id` of the persona that they test, instead of --pathway")
	keyFile := cmd.Flags().VarPF(keyFileAlias{cmd}, "key-file", "", "--"+keyFileFlag)
	keyFile.Hidden = true
}

// tested describes the tested agent by its kind and its id.
func (r *remote) tested() string {
	if r.persona != "" {
		return "persona " + r.persona
	}
	return "pathway " + r.pathway
}

// open checks that exactly one agent is selected, and returns a client for its scenarios.
func (r *remote) open(c Config, cmd *cobra.Command, env func(string) string) (*server, error) {
	if (r.pathway == "") == (r.persona == "") {
		return nil, errors.New("exactly one of --pathway ID and --persona ID is required: the tested agent")
	}
	a, err := openAPI(c, cmd, env)
	if err != nil {
		return nil, err
	}
	return &server{a, a.AgentTests(), *r}, nil
}

// keyFileAlias is a flag that sets --api-key-file under its former name.
type keyFileAlias struct{ cmd *cobra.Command }

func (a keyFileAlias) String() string { return "" }

func (a keyFileAlias) Type() string { return "file" }

func (a keyFileAlias) Set(name string) error {
	return a.cmd.Root().PersistentFlags().Set(keyFileFlag, name)
}

// server is a client for the scenarios of a tested agent.
type server struct {
	api    *api
	client *oas.Client
	remote
}

// stored is a scenario of a server or a file. id is empty for a file's scenario.
type stored struct {
	id      string
	name    string
	members []suite.Member
}

// list returns all scenarios of the tested agent.
func (s *server) list(ctx context.Context) ([]stored, error) {
	var all []stored
	for {
		reply, err := s.client.ListTestScenarios(ctx, oas.ListTestScenariosParams{
			PathwayID: oas.OptString{Value: s.pathway, Set: s.pathway != ""}, PersonaID: oas.OptString{Value: s.persona, Set: s.persona != ""},
			Limit: oas.NewOptInt(listPage), Offset: oas.NewOptInt(len(all)),
		})
		if err != nil {
			return nil, s.api.unwrapped(err)
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

// notInFiles lists the members of a server's record that files do not contain.
var notInFiles = []string{"id", "org_id", "pathway_id", "persona_id", "created_at", "updated_at", "most_recent_run"}

// membersOf converts a server's record of a scenario to the members that a file contains.
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

// create creates a scenario of the tested agent on the server.
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
	return s.api.unwrapped(err)
}

// update replaces the changed members of a scenario on the server.
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
	return s.api.unwrapped(err)
}

func decodeInto(members map[string]any, body json.Unmarshaler) error {
	raw, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return body.UnmarshalJSON(raw)
}
