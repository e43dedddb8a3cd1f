// Questions with one exact number as their answer.

export { finalAnswer, gradeAnswer, type FinalAnswer, type MathGrade } from './answer.ts';
export { createMathEnv, MATH, type MathEnvOptions } from './env.ts';
export { readNumber, sameNumber, showNumber, type ExactNumber } from './number.ts';
export { mathProblems, type MathProblem } from './problems.ts';
