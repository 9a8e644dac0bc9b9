package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/client"
)

// The names of the flags that every command accepts.
const (
	jsonFlag    = "json"
	serverFlag  = "server"
	baseURLFlag = "base-url"
	keyFileFlag = "api-key-file"

	allowHTTPFlag = "allow-http"
)

// The environment variables that name the API and its key. A key cannot be a flag, because other users can read command lines.
const (
	baseURLVariable    = client.BaseVariable
	apiKeyVariable     = client.KeyVariable
	apiKeyFileVariable = client.KeyFileVariable
	oldKeyVariable     = "CALLWRIGHT_API_KEY" // also read by scenarios
)

const (
	maxKeyFile    = 4 << 10  // bytes
	maxServerFile = 64 << 10 // bytes
)

// addRootFlags adds the flags that every command accepts.
func addRootFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.Bool(jsonFlag, false, "print one JSON value, and errors as JSON")
	flags.String(serverFlag, "", "the server: its `address`, or its server.json, which names its key's file, too")
	flags.String(baseURLFlag, "", "the `address` of the server, or "+baseURLVariable+" (default "+client.DefaultBaseURL+")")
	flags.Bool(allowHTTPFlag, false, "send the key also over http, unencrypted, to a server that is not on this machine")
	flags.String(keyFileFlag, "", "a `file` with the key of the API, or "+apiKeyFileVariable+" (data/api-key of the reference server)")
}

// endpoint is the address of an API, and the key for it.
type endpoint struct {
	baseURL   string
	key       callwright.Secret
	allowHTTP bool
}

// serverFile contains the members of a reference server's server.json that the commands read.
type serverFile struct {
	APIURL     string `json:"api_url"`
	APIKeyFile string `json:"api_key_file"`
}

// findEndpoint returns the API that the flags and the environment name. A flag takes precedence over the variables, and a variable with a
// key over a variable with a key file.
func findEndpoint(cmd *cobra.Command, env func(string) string) (endpoint, error) {
	e, keyFile, err := findAddress(cmd, env)
	if err == nil {
		e.key, err = findKey(keyFile, env)
	}
	return e, err
}

// findAddress is like findEndpoint, but does not read the key. keyFile is the path of the key file that the flags or the server.json name,
// or empty.
func findAddress(cmd *cobra.Command, env func(string) string) (e endpoint, keyFile string, err error) {
	flags := cmd.Root().PersistentFlags()
	given := func(name string) string { return flags.Lookup(name).Value.String() }
	address := given(baseURLFlag)
	keyFile = given(keyFileFlag)
	if server := given(serverFlag); server != "" {
		if address != "" {
			return e, "", usage(errors.New("--server and --base-url both name the server: use only one of them"))
		}
		file, err := readServer(server)
		if err != nil {
			return e, "", usage(err)
		}
		address, keyFile = file.APIURL, cmp.Or(keyFile, file.APIKeyFile)
	}
	e.baseURL = cmp.Or(address, env(baseURLVariable), client.DefaultBaseURL)
	e.allowHTTP, _ = flags.GetBool(allowHTTPFlag)
	return e, keyFile, nil
}

// readServer returns the server for the value of --server. The value is an address or the path of a server.json.
func readServer(name string) (serverFile, error) {
	if strings.Contains(name, "://") {
		return serverFile{APIURL: name}, nil
	}
	raw, err := readFile(name, maxServerFile)
	if err != nil {
		return serverFile{}, fmt.Errorf("--server must be an address such as %s, or the server.json of a running server: %w", client.DefaultBaseURL, err)
	}
	var file serverFile
	if err := json.Unmarshal(raw, &file); err != nil {
		return serverFile{}, fmt.Errorf("--server: %s must be a JSON object with api_url, such as the server.json of a running server: %w", name, err)
	}
	if file.APIURL == "" {
		return serverFile{}, fmt.Errorf("--server: %s has no api_url: name the server.json of a running server, or an address such as %s", name, client.DefaultBaseURL)
	}
	if file.APIKeyFile != "" && !filepath.IsAbs(file.APIKeyFile) { // the key file is in the same folder
		file.APIKeyFile = filepath.Join(filepath.Dir(name), filepath.Base(file.APIKeyFile))
	}
	return file, nil
}

// isKey reports whether a text can be a key: keys are sent in a header, so they contain only printable ASCII without spaces.
func isKey(text string) bool {
	return text != "" && strings.IndexFunc(text, func(c rune) bool { return c <= ' ' || c > '~' }) < 0
}

// findKey returns the key in a file. If file is empty, it returns the key that the environment names. Without any key, the error has the
// code ExitUnauthorized.
func findKey(file string, env func(string) string) (callwright.Secret, error) {
	key := ""
	if file == "" {
		key = cmp.Or(env(apiKeyVariable), env(oldKeyVariable))
	}
	if file == "" && key == "" {
		file = env(apiKeyFileVariable)
	}
	if file != "" {
		raw, err := readFile(file, maxKeyFile)
		if err != nil {
			return "", usage(fmt.Errorf("the file of the API key: %w", err))
		}
		if key = string(raw); !isKey(strings.TrimSpace(key)) {
			return "", usage(fmt.Errorf("%s: must contain the API key alone, on one line, in visible ASCII characters", file))
		}
	}
	key = strings.TrimSpace(key)
	if key == "" {
		return "", &exit{code: ExitUnauthorized, err: callwright.Errorf(callwright.CodeAuthFailure,
			"the API key is missing: set %s, or name its file with --%s or %s", apiKeyVariable, keyFileFlag, apiKeyFileVariable)}
	}
	return callwright.Secret(key), nil
}
