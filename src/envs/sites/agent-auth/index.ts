// Sites to sign in on: find the form, list its fields.

export { describeAgentAuth } from './description.ts';
export { agentAuthTasks, openAgentAuth } from './suite.ts';
