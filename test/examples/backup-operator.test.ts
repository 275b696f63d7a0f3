/** The tests of the operator of docs/operator.md, as they are. */
import '../../docs/examples/backup-operator/controller.test.ts';
