package main

// kubernetes are the modules whose methods of protobuf are left out.
var kubernetes = map[string]bool{
	"k8s.io/api": true, "k8s.io/apimachinery": true, "k8s.io/apiserver": true, "sigs.k8s.io/structured-merge-diff/v6": true,
}

// documentation is the file of a package of Kubernetes that explains its fields.
const documentation = "types_swagger_doc_generated.go"

// protobuf are the methods that are left out: objects are read and written as JSON and YAML. Size stays, by which a controller
// bounds what it creates.
var protobuf = map[string]bool{
	"Marshal": true, "MarshalTo": true, "MarshalToSizedBuffer": true, "Unmarshal": true, "MarshalToWriter": true, "NestedMarshalTo": true,
}

// leftOut are functions and methods by their files, or whole files, that nothing in a page calls but tables of all there is: of CEL's
// extensions by name, of kinds and their conversions, of formats beside those of CEL's format library. No message is declared in
// expressions, or written as JSON.
var leftOut = map[string][]string{
	"github.com/google/cel-go/cel/options.go":                         {"TypeDescs", "registerFileSet", "registerFiles"},
	"github.com/google/cel-go/cel/prompt.go":                          wholeFile,
	"github.com/google/cel-go/ext/extension_option_factory.go":        wholeFile,
	"github.com/spf13/cobra/cobra.go":                                 {"AddTemplateFuncs"},
	"k8s.io/apimachinery/pkg/apis/meta/v1/register.go":                {"init"},
	"k8s.io/apimachinery/pkg/apis/meta/v1/zz_generated.conversion.go": {"init"},
	"k8s.io/kube-openapi/pkg/validation/strfmt/bson.go":               {"init"},
	"k8s.io/kube-openapi/pkg/validation/strfmt/duration.go":           {"init"},
	"google.golang.org/protobuf/types/known/structpb/struct.pb.go": {
		"Struct.MarshalJSON", "Struct.UnmarshalJSON", "Value.MarshalJSON", "Value.UnmarshalJSON", "ListValue.MarshalJSON", "ListValue.UnmarshalJSON",
	},
	"k8s.io/kube-openapi/pkg/validation/strfmt/kubernetes-extensions.go": {"init"},
}

var wholeFile = []string{"*"}

// emptied are functions and methods by their files that others call, and that do nothing in a page; one with results panics. Nobody
// reads logs, no shell completes, no help is a template, and no message is from before protobuf's reflection.
var emptied = map[string][]string{
	"github.com/spf13/cobra/cobra.go":                         {"tmpl"},
	"github.com/spf13/cobra/completions.go":                   {"Command.initCompleteCmd", "Command.InitDefaultCompletionCmd"},
	"google.golang.org/protobuf/internal/descfmt/stringer.go": {"FormatList", "FormatDesc"},
	"google.golang.org/protobuf/internal/impl/legacy_file.go": {"legacyLoadFileDesc"},
	"k8s.io/klog/v2/klog.go":                                  {"loggingT.printS", "loggingT.output"},
}

// edits are the replacements in files: old and new texts, in turns. Each old text must be there, so that an upgrade that changes it
// fails the build.
var edits = map[string][]string{
	// net/http has crypto/tls on its way.
	"k8s.io/apiserver/pkg/authorization/authorizer/interfaces.go": {"GetRequestAttributes(user.Info, *http.Request) Attributes", ""},
	"k8s.io/apimachinery/pkg/util/runtime/runtime.go":             {"if r == http.ErrAbortHandler {", "if r == nil {"},
	"k8s.io/apimachinery/pkg/watch/streamwatcher.go":              {"if net.IsProbableEOF(err) || net.IsTimeout(err) {", "if false {"},
	// Objects are not read and written as CBOR, nor values of managed fields as JSON.
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct/direct.go": {
		"package direct", "package direct\n\nimport \"errors\"",
		"return modes.Encode.Marshal(src)", "return nil, errors.ErrUnsupported",
		"return modes.Decode.Unmarshal(src, dst)", "return errors.ErrUnsupported",
		"return modes.Diagnostic.Diagnose(src)", `return "", errors.ErrUnsupported`,
	},
	"sigs.k8s.io/structured-merge-diff/v6/value/value.go": {
		"var (\n\treadPool  = jsoniter", "/*\n\treadPool  = jsoniter",
		"1024).Pool()\n)", "1024).Pool()\n*/",
		"// FromJSON is a helper", "/* FromJSON is a helper",
		"// ToYAML marshals", "*/\n\n// ToYAML marshals",
	},
	// Messages are written and read by reflection, without functions for each kind of field.
	"google.golang.org/protobuf/internal/impl/codec_message.go": {
		"mi.coderFields = make(map[protowire.Number]*coderFieldInfo)\n", "return\n\n\tmi.coderFields = make(map[protowire.Number]*coderFieldInfo)\n",
	},
	"google.golang.org/protobuf/internal/impl/codec_extension.go": {"\t\tfuncs:   encoderFuncsForValue(xd),\n", ""},
	// All messages have the fields of their Go structs to read.
	"google.golang.org/protobuf/internal/impl/message_opaque.go": {"if !isOpaque(mt) {", "if true {"},
	"google.golang.org/protobuf/internal/impl/api_export.go":     {"return prototext.MarshalOptions{Multiline: false}.Format(m)", `return ""`},
	"github.com/spf13/cobra/cobra.go":                            {"template.FuncMap{", "map[string]interface{}{"},
	"k8s.io/kube-openapi/pkg/validation/strfmt/default.go": {
		"u := URI(", "/* u := URI(",
		"uid := UUID(", "*/ uid := UUID(",
		"uid3 := UUID3(", "/* uid3 := UUID3(",
		"b64 := Base64(", "*/ b64 := Base64(",
		"pw := Password", "/* pw := Password",
		"return true })", "*/",
	},
	// A registration keeps all kinds of an API group, with all their methods.
	"k8s.io/api/core/v1/register.go":             noKinds,
	"k8s.io/api/batch/v1/register.go":            noKinds,
	"k8s.io/api/authentication/v1/register.go":   noKinds,
	"k8s.io/api/scheduling/v1alpha3/register.go": noKinds,
}

var noKinds = []string{"runtime.NewSchemeBuilder(addKnownTypes)", "runtime.NewSchemeBuilder()"}
