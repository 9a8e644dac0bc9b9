package cli

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright"
)

// The environment variables that name a deployment; the server uses the same ones.
const (
	dataVariable     = "CALLWRIGHT_DATA"
	databaseVariable = "CALLWRIGHT_DATABASE_URL"
	secretVariable   = "CALLWRIGHT_SECRET_KEY"
)

// howDeployed explains in the help how a command finds its deployment.
const howDeployed = "The deployment is named as the server's is: by --data and --database-url, or " + dataVariable + " and " + databaseVariable + ".\n" +
	"The master key comes from " + secretVariable + ", or from the data folder.\n\n"

// Deployment names a deployment.
type Deployment struct {
	Data        string            // path of the data folder
	DatabaseURL callwright.Secret // if empty, SQLite in the data folder
	SecretKey   callwright.Secret // the master key; if empty, the data folder contains it
}

// deploymentFlags are the flags that name a deployment.
type deploymentFlags struct {
	env               func(string) string
	data, databaseURL string
}

// add adds the flags to a command and its subcommands.
func (d *deploymentFlags) add(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringVar(&d.data, "data", "", "the `folder` of the deployment's data (default ./data)")
	flags.StringVar(&d.databaseURL, "database-url", "",
		"its database, sqlite:PATH or postgres://...; one with a password belongs into "+databaseVariable+", as others see command lines "+
			"(default: SQLite in the data folder)")
}

// deployment returns the deployment that the flags and the environment name. A flag takes precedence over a variable.
func (d *deploymentFlags) deployment() Deployment {
	return Deployment{
		Data:        cmp.Or(d.data, d.env(dataVariable), "./data"),
		DatabaseURL: callwright.Secret(cmp.Or(d.databaseURL, d.env(databaseVariable))),
		SecretKey:   callwright.Secret(d.env(secretVariable)),
	}
}

// refusal adds the exit code to an error of an operation on a deployment: ExitRefused if the operation was refused, otherwise ExitUsage. It
// returns nil for nil, and an *exit unchanged.
func refusal(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, callwright.ErrWrongKey):
		return usage(fmt.Errorf("the master key is not the key with which this database was created: name the data folder of that database with --data, or its master key with %s", secretVariable))
	}
	if e, ok := errors.AsType[*exit](err); ok {
		return e
	}
	switch callwright.CodeOf(err) {
	case callwright.CodeNotFound, callwright.CodeInvalidState, callwright.CodeBadRequest, callwright.CodeConflict, callwright.CodeTooManyRequests:
		return refused(err)
	default:
		return usage(err)
	}
}
