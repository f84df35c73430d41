// The extension that holds Jaeger's stores, with its store in memory alone: those of Elasticsearch, Cassandra, ClickHouse and Badger take
// longer to compile than all the rest.
package jaegerstorage

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"

	"github.com/jaegertracing/jaeger/internal/storage/v1"
	v1memory "github.com/jaegertracing/jaeger/internal/storage/v1/memory"
	"github.com/jaegertracing/jaeger/internal/storage/v2/api/tracestore"
	"github.com/jaegertracing/jaeger/internal/storage/v2/memory"
	"github.com/jaegertracing/jaeger/internal/telemetry"
)

var componentType = component.MustNewType("jaeger_storage")

// ID names this extension to the components that depend on it.
var ID = component.NewID(componentType)

// Config is what the configuration says of stores, by their names.
type Config struct {
	Backends map[string]Backend `mapstructure:"backends"`
}

// Backend is one of them.
type Backend struct {
	Memory v1memory.Configuration `mapstructure:"memory"`
}

type stores struct {
	config   *Config
	settings component.TelemetrySettings
	byName   map[string]tracestore.Factory
}

func NewFactory() extension.Factory {
	create := func(_ context.Context, set extension.Settings, config component.Config) (extension.Extension, error) {
		return &stores{config.(*Config), set.TelemetrySettings, map[string]tracestore.Factory{}}, nil
	}
	createConfig := func() component.Config { return &Config{} }
	return extension.NewFactory(componentType, createConfig, create, component.StabilityLevelBeta)
}

func (s *stores) Start(_ context.Context, host component.Host) error {
	for name, backend := range s.config.Backends {
		store, err := memory.NewFactory(backend.Memory, telemetry.FromOtelComponent(s.settings, host))
		if err != nil {
			return err
		}
		s.byName[name] = store
	}
	return nil
}

func (*stores) Shutdown(context.Context) error { return nil }

func GetTraceStoreFactory(name string, host component.Host) (tracestore.Factory, error) {
	for id, one := range host.GetExtensions() {
		if id.Type() != componentType {
			continue
		}
		if store, ok := one.(*stores).byName[name]; ok {
			return store, nil
		}
	}
	return nil, fmt.Errorf("no store %q in the configuration of %s", name, componentType)
}

func GetMetricStorageFactory(string, component.Host) (storage.MetricStoreFactory, error) {
	return nil, errors.New("this build of Jaeger keeps no metrics")
}
