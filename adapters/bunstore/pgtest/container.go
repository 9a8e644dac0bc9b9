package pgtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
	"github.com/testcontainers/testcontainers-go/modules/postgres"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/callwright/callwright/internal/guard"
)

// image is the image that scripts/postgres-image.sh builds. It is never pulled: no registry has it.
const image = "callwright-postgres:test"

// envHost names the address of published ports to testcontainers.
const envHost = "TESTCONTAINERS_HOST_OVERRIDE"

// dockerReady returns nil if a daemon answers and has the image, else an error with the missing part.
func dockerReady(ctx context.Context) error {
	if _, err := exec.LookPath("docker"); err != nil {
		return errors.New("the docker command is not installed")
	}
	if err := configure(); err != nil {
		return err
	}
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return fmt.Errorf("no Docker daemon answers (%w)", err)
	}
	defer provider.Close()
	images, err := provider.ListImages(ctx)
	if err != nil {
		return fmt.Errorf("no Docker daemon answers (%w)", err)
	}
	if !slices.ContainsFunc(images, func(i testcontainers.ImageInfo) bool { return i.Name == image }) {
		return fmt.Errorf("the Docker daemon has no image %s", image)
	}
	return nil
}

// configure silences testcontainers and sets its environment variables, before any other call of it.
func configure() error {
	log.SetDefault(silent{})
	// Its reaper is an image from a registry; here the guard does that work.
	if err := os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true"); err != nil {
		return err
	}
	// Inside a container, or a virtual machine that looks like one, the library takes the default gateway for the
	// address of published ports. With a daemon on this machine it is the loopback interface. Tests that run in a
	// container beside the daemon's others set the variable themselves.
	_, given := os.LookupEnv(envHost)
	if given || strings.HasPrefix(os.Getenv("DOCKER_HOST"), "tcp:") {
		return nil
	}
	return os.Setenv(envHost, "127.0.0.1")
}

// startContainer runs the image and returns the DSN of its superuser.
func startContainer(ctx context.Context) (string, error) {
	name, password := "callwright-pgtest-"+randomHex(6), randomHex(16)
	if _, err := guard.Start(nil, `docker rm --force --volumes "$1"`, name); err != nil {
		return "", err
	}
	// A log line, not an open port: Docker's proxy accepts connections before the server does. Our image says it once.
	ready := wait.ForLog("database system is ready to accept connections").WithPollInterval(50 * time.Millisecond)
	options := []testcontainers.ContainerCustomizer{
		postgres.WithPassword(password),
		testcontainers.WithName(name),
		testcontainers.WithCmdArgs(fastSettings()...),
		testcontainers.WithWaitStrategy(ready),
	}
	if !benchmarks() {
		options = append(options, inMemory()...)
	}
	container, err := postgres.Run(ctx, image, options...)
	if err != nil {
		return "", err
	}
	return container.ConnectionString(ctx, "sslmode=disable")
}

// inMemory keeps the files of a container's server in memory, where databases are made several times faster.
func inMemory() []testcontainers.ContainerCustomizer {
	const folder = "/memory"
	return []testcontainers.ContainerCustomizer{
		testcontainers.WithTmpfs(map[string]string{folder: "rw,mode=1777"}), // the server is not root
		testcontainers.WithEnv(map[string]string{"PGDATA": folder + "/data"}),
		testcontainers.WithCmdArgs("-c", "max_wal_size=128MB"),
	}
}

// benchmarks reports whether this process runs benchmarks. Their databases are large, and on disk like users' databases.
func benchmarks() bool {
	f := flag.Lookup("test.bench")
	return f != nil && f.Value.String() != ""
}

// silent drops the progress messages of testcontainers.
type silent struct{}

// Printf implements the logger of testcontainers.
func (silent) Printf(string, ...any) {}
